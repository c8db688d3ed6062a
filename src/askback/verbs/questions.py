"""What a body awaits: ask, ask_all, confirm, choose, once, visit. Each is a few lines over the conversation."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast, overload

from typing_extensions import TypeForm

from askback.answers import Accepted, Answer
from askback.errors import AuthorError, QuestionRefused
from askback.model.durations import seconds_of
from askback.model.question import Boolean, Field, Form
from askback.runtime.conversation import Conversation
from askback.runtime.current import current_conversation, verb
from askback.runtime.once import EffectTerms
from askback.runtime.visit_flow import VisitPlan
from askback.schema.forms import fieldset_of_options, form_of, require_message
from askback.schema.links import link_of
from askback.schema.values import is_readable

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
T5 = TypeVar("T5")
P = ParamSpec("P")

Seconds = timedelta | float | None
Meta = Mapping[str, Any] | None


@overload
async def ask(
    message: str,
    what: Field[T],
    *,
    key: str | None = None,
    initial: Any = None,
    timeout: Seconds = None,
    meta: Meta = None,
) -> Answer[T]: ...
@overload
async def ask(
    message: str,
    what: Mapping[str, Any],
    *,
    key: str | None = None,
    initial: Any = None,
    timeout: Seconds = None,
    meta: Meta = None,
) -> Answer[dict[str, Any]]: ...
@overload
async def ask(
    message: str,
    what: TypeForm[T],
    *,
    key: str | None = None,
    initial: Any = None,
    timeout: Seconds = None,
    meta: Meta = None,
) -> Answer[T]: ...
@verb
async def ask(
    message: str,
    what: Any,
    *,
    key: str | None = None,
    initial: Any = None,
    timeout: Seconds = None,
    meta: Meta = None,
) -> Answer[Any]:
    """Put a form to the person behind the call and give their answer.

    Args:
        message: what is asked and why, in words for that person.
        what: the fields: a pydantic model, dataclass or TypedDict; a scalar type; `list[Literal[...]]` for several
            choices; a dict of `Text`, `Choice` and the like; or a restricted JSON Schema.
        key: a name for this question in its call, needed where questions are asked side by side.
        initial: what the fields are filled in with on this call.
        timeout: how long to wait; then `TimedOut` is raised.
        meta: extra facts for the client, as `_meta`.

    Raises:
        CannotAsk: the client, its revision or the transport cannot show a form.
        TimedOut: no answer came in time.
        InvalidAnswer: reply after reply did not fit.
        QuestionRefused: this form could never be shown, or fishes for secrets.
    """
    conversation = current_conversation("ask(...)")
    form = form_of(message, what, initial=initial, meta=meta)
    key = None if key is None else _checked(key)
    seconds = None if timeout is None else seconds_of(timeout, "timeout")
    return await conversation.ask(form, key=key, seconds=seconds)


@verb
async def confirm(message: str, *, key: str | None = None, timeout: Seconds = None) -> bool:
    """Whether the person said yes in so many words; a no and a dismissal are both False."""
    return await ask(message, _YES, key=key, timeout=timeout) == Accepted({"yes": True})


@overload
async def choose(
    message: str,
    options: Mapping[T, str] | Iterable[T],
    multiple: Literal[False] = False,
    *,
    least: int | None = None,
    most: int | None = None,
    initial: T | None = None,
    key: str | None = None,
    timeout: Seconds = None,
) -> Answer[T]: ...
@overload
async def choose(
    message: str,
    options: Mapping[T, str] | Iterable[T],
    multiple: Literal[True],
    *,
    least: int | None = None,
    most: int | None = None,
    initial: Iterable[T] | None = None,
    key: str | None = None,
    timeout: Seconds = None,
) -> Answer[list[T]]: ...
@verb
async def choose(
    message: str,
    options: Mapping[Any, str] | Iterable[Any],
    multiple: bool = False,
    *,
    least: int | None = None,
    most: int | None = None,
    initial: Any = None,
    key: str | None = None,
    timeout: Seconds = None,
) -> Answer[Any]:
    """One or several of a list, or of a `{value: title}`; the answer's value is what was chosen.

    `least` and `most` bound how many, where `multiple` is true.
    """
    current_conversation("choose(...)")
    fieldset: Any = fieldset_of_options(options, multiple=multiple, least=least, most=most)
    return await ask(message, fieldset, key=key, initial=initial, timeout=timeout)


class Ask(Generic[T]):
    """One of several questions for `ask_all`, its type known to type checkers."""

    __slots__ = ("form", "key", "seconds")

    @overload
    def __init__(
        self, key: str, message: str, what: Field[T], *, initial: Any = None, timeout: Seconds = None
    ) -> None: ...
    @overload
    def __init__(
        self: "Ask[dict[str, Any]]",
        key: str,
        message: str,
        what: Mapping[str, Any],
        *,
        initial: Any = None,
        timeout: Seconds = None,
    ) -> None: ...
    @overload
    def __init__(
        self, key: str, message: str, what: TypeForm[T], *, initial: Any = None, timeout: Seconds = None
    ) -> None: ...
    def __init__(
        self, key: str, message: str, what: Any, *, initial: Any = None, timeout: Seconds = None
    ) -> None:
        self.key = _checked(key)
        self.form: Form[T] = form_of(message, what, initial=initial)
        self.seconds = seconds_of(timeout, "timeout")


@overload
async def ask_all(first: Mapping[str, tuple[str, Any]], /) -> dict[str, Answer[Any]]: ...
@overload
async def ask_all(first: Ask[T1], /) -> tuple[Answer[T1]]: ...
@overload
async def ask_all(first: Ask[T1], second: Ask[T2], /) -> tuple[Answer[T1], Answer[T2]]: ...
@overload
async def ask_all(
    first: Ask[T1], second: Ask[T2], third: Ask[T3], /
) -> tuple[Answer[T1], Answer[T2], Answer[T3]]: ...
@overload
async def ask_all(
    first: Ask[T1], second: Ask[T2], third: Ask[T3], fourth: Ask[T4], /
) -> tuple[Answer[T1], Answer[T2], Answer[T3], Answer[T4]]: ...
@overload
async def ask_all(
    first: Ask[T1],
    second: Ask[T2],
    third: Ask[T3],
    fourth: Ask[T4],
    fifth: Ask[T5],
    /,
) -> tuple[Answer[T1], Answer[T2], Answer[T3], Answer[T4], Answer[T5]]: ...
@verb
async def ask_all(
    first: Mapping[str, tuple[str, Any]] | Ask[Any], /, *others: Ask[Any]
) -> dict[str, Answer[Any]] | tuple[Answer[Any], ...]:
    """Several questions in one round: `{key: (message, what)}` gives a dict of answers by key.

    Given `Ask(...)`s instead, it gives their answers as a tuple, each with its own type.
    """
    conversation = current_conversation("ask_all(...)")
    if isinstance(first, Ask):
        return tuple(await _ask_together(conversation, [first, *others]))
    questions = [_question(key, pair) for key, pair in first.items()]
    return dict(zip(first, await _ask_together(conversation, questions), strict=True))


@overload
async def once(key: str, fn: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
@overload
async def once(key: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
@overload
async def once(
    key: str,
    fn: Callable[..., Awaitable[T]],
    /,
    *args: Any,
    within: timedelta | float,
    retry: bool = False,
    **kwargs: Any,
) -> T: ...
@overload
async def once(
    key: str,
    fn: Callable[..., T],
    /,
    *args: Any,
    within: timedelta | float,
    retry: bool = False,
    **kwargs: Any,
) -> T: ...
@overload
async def once(key: str, fn: Callable[..., Awaitable[T]], /, *args: Any, retry: bool, **kwargs: Any) -> T: ...
@overload
async def once(key: str, fn: Callable[..., T], /, *args: Any, retry: bool, **kwargs: Any) -> T: ...
@verb
async def once(
    key: str,
    fn: Callable[..., Any],
    /,
    *args: Any,
    within: Seconds = None,
    retry: bool = False,
    **kwargs: Any,
) -> Any:
    """Run an effect that must not repeat when the body runs again, and give its result every time.

    The result is written down by the return type that `fn` declares and read back alike on the first run and on
    replay. If `fn` raises, `EffectFailed` is raised, now and on replay, and it is not tried again in this call.

    With `within`, neither is it tried again in any call of the same caller to the same tool with the same arguments
    before that time is over: for hosts that make a new call where others would go on with the old one.

    If the worker that ran it died meanwhile, it is unknown whether it happened. Then it is not run again, and
    `EffectFailed` says that it was interrupted; with `retry=True` it is run again, which is right where twice is as
    good as once.

    A `within` or `retry` that is meant for `fn` itself goes into a `functools.partial`.
    """
    _require_effect_key(key)
    if not callable(fn):
        raise AuthorError(
            f"once({key!r}, {fn!r}) has nothing to run. Pass the function itself and its arguments."
        )
    terms = EffectTerms(seconds_of(within, "within"), _is_retry(retry))
    conversation = current_conversation("once(...)")
    return await conversation.once(key, fn, partial(fn, *args, **kwargs), terms)


@verb
async def visit(
    message: str,
    url: str,
    *,
    key: str | None = None,
    wait: bool = True,
    timeout: Seconds = None,
    meta: Meta = None,
) -> Answer[Any]:
    """Send the person to a page that is not ours, and go on when the application says that they are done there.

    Args:
        message: what they are to do there and why, in words for that person.
        url: where, with `{id}` in it, which stands for an id that cannot be guessed. The application gives it back with
            `Askback.settle(id, result)` or `Askback.fail(id, reason)`, in this process or another.
        key: names this question for good, like that of `ask`.
        wait: whether to wait for the end. Without, the body goes on when the person has agreed to go, and the answer's
            value is the id.
        timeout: from the question to the end of the visit; then `TimedOut`. Twice the server's `think_time`, if nothing
            is said.
        meta: for the client, beside the question.

    Gives `Accepted` with what the visit was settled with, `Declined` or `Cancelled`; raises `VisitFailed` where the
    application said that it failed, `StillOpen` where the client waits no longer and the same call made again finds the
    visit, and `CannotAsk` where the client can show no links.
    """
    conversation = current_conversation("visit(...)")
    require_message(message)
    link = link_of(url, needs_id=wait)

    async def link_for(id: str) -> str:
        return link.with_id(id)

    plan = VisitPlan(
        kind="elsewhere",
        message=message,
        link=link_for,
        seconds=seconds_of(timeout, "timeout"),
        waits=wait,
        template=link.template,
        meta=meta,
    )
    return await conversation.visit(plan, key=_checked(key))


def _question(key: str, pair: Any) -> Ask[Any]:
    match pair:
        case (str() as message, what):
            return Ask(key, message, what)
        case _:
            raise QuestionRefused(
                field=None,
                problem=f"ask_all was given {pair!r} for {key!r}",
                instead="give a (message, what) each",
            )


async def _ask_together(conversation: Conversation, questions: list[Ask[Any]]) -> list[Answer[Any]]:
    puts = [conversation.place(item.form, key=item.key, seconds=item.seconds) for item in questions]
    return await conversation.ask_all(puts)


_YES = cast("Mapping[str, Any]", {"yes": Boolean(title="Yes")})
"""One boolean: some clients hang on a form without fields, and an accept alone could be a reflex."""

MAX_KEY_LENGTH = 200
"""Characters of a key; it travels with every later round."""

_PLACE = re.compile(r"(ask|elicit|link|visit)-\d+|(secret|connect)-\d+:.*|guard-.*", re.DOTALL)


def _checked(key: str | None) -> str | None:
    if key is None or _is_key(key):
        return key
    raise QuestionRefused(
        field=None,
        problem=f"the key {key!r} cannot be used: keys are readable texts of 1 to 200 characters, and 'ask-1', "
        "'visit-1' and the like are the places of questions without one",
        instead="a short name for what is asked, such as key='extras'",
    )


def _is_retry(retry: object) -> bool:
    if not isinstance(retry, bool):
        raise AuthorError(
            f"once(..., retry={retry!r:.80}) says whether an effect that was cut short may be run again: True or "
            "False. An argument of that name for the function itself goes into a functools.partial."
        )
    return retry


def _require_effect_key(key: object) -> None:
    if not (isinstance(key, str) and 0 < len(key) <= MAX_KEY_LENGTH and is_readable(key)):
        raise AuthorError(
            f"once({key!r:.80}, ...) has a key that cannot be written down. Give it a readable text of 1 to "
            f"{MAX_KEY_LENGTH} characters, such as 'place order'."
        )


def _is_key(key: object) -> bool:
    return (
        isinstance(key, str)
        and 0 < len(key) <= MAX_KEY_LENGTH
        and is_readable(key)
        and not _PLACE.fullmatch(key)
    )
