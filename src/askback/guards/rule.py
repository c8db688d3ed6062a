"""What a guard asks, when, and how long an approval may last: this once, for the rest of the call, or for a time.

It knows no server and no conversation.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from inspect import Parameter, isawaitable, signature, unwrap
from types import CodeType
from typing import Any, Literal, NamedTuple, TypeVar

from askback.errors import AskbackError, AuthorError
from askback.guards.arguments import Arguments, Risk, digest_of
from askback.guards.templates import (
    TOOL,
    Template,
    defang,
    make_legible,
    quote_text,
    quote_values,
    render_value,
)
from askback.model.durations import seconds_of
from askback.model.question import Boolean, Choice
from askback.model.texts import Words

ONCE, CONVERSATION, NO = "once", "conversation", "no"
RESERVED = frozenset({ONCE, CONVERSATION, NO})

MAX_OFFERS = 10
"""More choices would not be read."""

MAX_OFFER_SECONDS = 366 * 86_400.0
"""A year: after that, a person has forgotten what they agreed to."""

MAX_TITLE_LENGTH = 200
"""Characters: a client may cut a longer title, and a person has to read all of what they agree to."""


class ApprovalOffer(NamedTuple):
    """One way for an approval to last."""

    seconds: float | None = None
    """None: for the rest of this call."""

    @property
    def value(self) -> str:
        return CONVERSATION if self.seconds is None else f"for {self.seconds:g}"


def offers_of(given: Iterable[Literal["conversation"] | timedelta | float]) -> tuple[ApprovalOffer, ...]:
    """The author's offers, in their order."""
    if isinstance(given, str) or not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise _refused(given, "It is a list")
    offers = tuple(dict.fromkeys(_offer(one) for one in given))
    if len(offers) > MAX_OFFERS:
        raise _refused(given, f"{MAX_OFFERS} are the most that anybody chooses from")
    return offers


def _offer(given: Any) -> ApprovalOffer:
    if given == CONVERSATION:
        return ApprovalOffer()
    if isinstance(given, str | bool) or not isinstance(given, int | float | timedelta):
        raise _refused(given, "It has 'conversation' and lengths of time in it")
    seconds = seconds_of(given, "offers")
    if seconds > MAX_OFFER_SECONDS:
        raise _refused(given, "Nobody knows in a year what they agreed to")
    return ApprovalOffer(seconds)


def _refused(given: object, why: str) -> AuthorError:
    return AuthorError(
        f"guard(offers={given!r:.80}) cannot be offered. {why}: offers=['conversation', timedelta(hours=1)]."
    )


def fieldset_for(
    risk: Risk, offers: Iterable[ApprovalOffer], covers: str, words: Words
) -> dict[str, Boolean | Choice]:
    """The form's only field: yes or no, or one of several ways. Nothing is chosen beforehand."""
    titles = {ONCE: risk.yes or words.guard_once}
    titles |= {option.value: option.title for option in risk.options}
    lasting = {offer.value: _on_a_line(_title(offer, covers, words)) for offer in offers}
    titles |= {value: title for value, title in lasting.items() if len(title) <= MAX_TITLE_LENGTH}
    titles |= {NO: risk.no or words.guard_no}
    if len(titles) == 2:
        return {"yes": Boolean(title=_on_a_line(risk.yes or words.guard_yes))}
    shown = {value: _on_a_line(title) for value, title in titles.items()}
    return {"decision": Choice(shown, title=words.guard_decision)}


def _on_a_line(title: str) -> str:
    return defang(make_legible(" ".join(title.split("\n"))))


def _title(offer: ApprovalOffer, covers: str, words: Words) -> str:
    if offer.seconds is None:
        return words.guard_conversation.format(covers=covers)
    return words.guard_for.format(covers=covers, time=words.length(offer.seconds))


def require_options(risk: Risk) -> None:
    """Refuse options that share a value with each other or with our own choices."""
    values = [option.value for option in risk.options]
    taken = RESERVED & set(values) or {value for value in values if value.startswith("for ")}
    if taken or len(set(values)) < len(values):
        raise AuthorError(
            f"A guard's options have the values {values}, so nothing ran. Give each its own, other than "
            f"{', '.join(sorted(RESERVED))} and 'for ...'."
        )


_PLAIN = (str, bytes, int, float, complex, type(None))


def identify_function(function: object) -> str:
    """Module, name and a digest of the code: equal on every worker, different for two lambdas. Variables around the
    function do not count, since they may change from call to call."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    module = getattr(function, "__module__", type(function).__module__)
    code = getattr(unwrap(function) if callable(function) else function, "__code__", None)
    return f"{module} {name} {_digest(code) if isinstance(code, CodeType) else ''}"


@lru_cache(maxsize=1000)
def _digest(code: CodeType) -> str:
    return sha256(repr(_parts(code)).encode("utf-8", "surrogatepass")).hexdigest()


def _parts(code: CodeType) -> list[Any]:
    """Sets are left out: their order differs between workers."""
    constants = [one for one in code.co_consts if isinstance(one, _PLAIN)]
    inner = [_parts(one) for one in code.co_consts if isinstance(one, CodeType)]
    return [code.co_code, code.co_names, constants, inner]


EvenIf = Literal["cannot ask", "timed out", "cancelled"]


R = TypeVar("R")

Over = (
    Callable[[], R]
    | Callable[[Any], R]
    | Callable[[Any, Any], R]
    | Callable[[Any, Any, Any], R]
    | Callable[[Any, Any, Any, Any], R]
    | Callable[[Any, Any, Any, Any, Any], R]
    | Callable[[Any, Any, Any, Any, Any, Any], R]
)
"""A function of the arguments that it names. It is spelled out because pyright infers the parameters of a lambda only
from such a list."""

When = Over[bool | Awaitable[bool]]
Say = Over[str | Risk | Awaitable[str | Risk | None] | None]
KeyOf = Over[Any]


class ApprovalKey(NamedTuple):
    """The arguments that a lasting approval covers."""

    digest: str
    words: str
    """Empty if all arguments count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRule:
    """The part of a guard that does not depend on the function."""

    say: Template | Say | None = None
    when: When | None = None
    offers: tuple[ApprovalOffer, ...] = ()
    key: Template | KeyOf | None = None
    even_if: frozenset[EvenIf] = frozenset()
    seconds: float | None = None
    """How long the person has; None for the usual time of a question."""
    name: str = ""
    """Empty if it has the name of its tool."""
    before: str = ""
    """Which function it guards, as a decorator; two functions may have one name."""
    on_approval: Callable[[Arguments], None] | None = None
    """Called with the approved arguments right before the function runs, in the same task."""

    @property
    def identity(self) -> list[str]:
        """Distinguishes it from other rules, on every worker: an approval is for this question only."""
        return [self.name, self.before, *(_said(part) for part in (self.say, self.when, self.key))]

    @property
    def names_tool(self) -> bool:
        """Whether its templates or functions name the tool."""
        templates = (part for part in (self.say, self.key) if isinstance(part, Template))
        functions = (one.name for one in self._parameters())
        return TOOL in functions or any(TOOL in template.names for template in templates)

    def could_take(self, names: frozenset[str]) -> frozenset[str]:
        """Which of these names a function of the author takes optionally: with a default, or by `**rest`."""
        takes_all = any(one.kind is Parameter.VAR_KEYWORD for one in self._parameters())
        filled = {one.name for one in self._parameters() if one.default is not Parameter.empty}
        return names if takes_all else names & filled

    def _parameters(self) -> Iterator[Parameter]:
        for part in (self.say, self.when, self.key):
            if part is not None and not isinstance(part, Template):
                yield from signature(part).parameters.values()

    async def assess(self, tool: str, arguments: Arguments, words: Words) -> Risk | None:
        """The question to ask; None if there is none. If this raises, nothing runs."""
        if self.when is not None and not await self._is_wanted(self.when, tool, arguments):
            return None
        if self.say is None:
            text = words.guard_run.format(tool=render_value(tool))
            return Risk(message=append_arguments(text, arguments, (), words))
        if isinstance(self.say, Template):
            self.say.require(arguments, option="say", what=tool)
            text = _carefully("say", self.say.render, tool, arguments)
            return Risk(message=append_arguments(defang(text), arguments, self.say.whole, words))
        return await self._said(self.say, tool, arguments, words)

    async def find_key(self, tool: str, arguments: Arguments) -> ApprovalKey:
        """What a lasting approval of this run would cover."""
        if self.key is None:
            return ApprovalKey(digest_of(dict(arguments)), "")
        if isinstance(self.key, Template):
            self.key.require(arguments, option="key", what=tool)
            values = _carefully("key", self.key.values, tool, arguments)
            named = ", ".join(f"{name} = {render_value(value)}" for name, value in values)
            return ApprovalKey(digest_of(values), named or quote_text(self.key.text))
        value = await _called("key", self.key, tool, arguments)
        return ApprovalKey(_carefully("key", digest_of, value), _carefully("key", render_value, value))

    async def _is_wanted(self, when: When, tool: str, arguments: Arguments) -> bool:
        wanted = await _called("when", when, tool, arguments)
        if not isinstance(wanted, bool):
            raise AuthorError(
                f"guard(when=...) gave an object of type {type(wanted).__name__}, so nothing ran. Give True to have a "
                "person asked, or False."
            )
        return wanted

    async def _said(self, say: Say, tool: str, arguments: Arguments, words: Words) -> Risk | None:
        told = await _called("say", say, tool, arguments)
        if told is None:
            return None
        if isinstance(told, str):
            message = append_arguments(
                quote_values(told, arguments), arguments, find_taken(say, arguments) - {TOOL}, words
            )
            return Risk(message=defang(message))
        if isinstance(told, Risk):
            # An argument called `tool`: no function of the author can have received it.
            unseen = {name: value for name, value in arguments.items() if name == TOOL}
            return replace(told, message=_listed(told.message, unseen, words)) if unseen else told
        raise AuthorError(
            f"guard(say=...) gave an object of type {type(told).__name__}, so nothing ran. Give a text, a Risk, or "
            "None where there is nothing to ask."
        )


def append_arguments(text: str, arguments: Arguments, named: Any, words: Words) -> str:
    """The text, and below it the arguments that it does not name: nothing runs with an argument that was not shown."""
    unnamed = {name: value for name, value in arguments.items() if name not in named}
    return _listed(make_legible(text), unnamed, words)


def _listed(text: str, arguments: Arguments, words: Words) -> str:
    lines = [
        words.guard_with.format(name=render_value(name), value=render_value(value))
        for name, value in arguments.items()
    ]
    return "\n".join([text, "", *lines] if lines else [text])


def find_taken(function: Callable[..., Any], given: Arguments) -> frozenset[str]:
    """Which of these arguments a function of the author takes; all of them if it has `**rest`."""
    parameters = signature(function).parameters.values()
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return frozenset(given)
    return frozenset(parameter.name for parameter in parameters) & frozenset(given)


async def _called(option: str, function: Callable[..., Any], tool: str, arguments: Arguments) -> Any:
    """Call a function of the author with the arguments that it names."""
    try:
        given: dict[str, Any] = {**arguments, TOOL: tool}
        parameters = signature(function).parameters.values()
        taken = find_taken(function, given)
        if missing := [one.name for one in parameters if _is_missing(one, taken)]:
            raise AuthorError(
                f"guard({option}=...) takes {missing[0]!r}, and {tool} has no such argument, so nothing ran. It can "
                f"take: {', '.join(sorted(given))}."
            )
        said = function(**{name: given[name] for name in given if name in taken})
        return await said if isawaitable(said) else said
    except AskbackError:
        raise
    except Exception as error:
        raise _broken(option, error) from error


def _is_missing(parameter: Parameter, taken: frozenset[str]) -> bool:
    is_one = parameter.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    return parameter.name not in taken and parameter.default is Parameter.empty and is_one


def _carefully(option: str, function: Callable[..., Any], *given: Any) -> Any:
    try:
        return function(*given)
    except AskbackError:
        raise
    except Exception as error:
        raise _broken(option, error) from error


def _broken(option: str, error: Exception) -> AuthorError:
    return AuthorError(
        f"guard({option}=...) raised {type(error).__name__}, so nobody knows whether this may run, and nothing ran. "
        "Mend that function: it must come to an answer for every argument that the tool takes."
    )


def _said(part: object) -> str:
    if isinstance(part, Template):
        return part.text
    return "" if part is None else identify_function(part)
