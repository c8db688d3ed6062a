"""What a body awaits of pages of ours: `secret`, `connect`, `disconnect`. The value goes from the browser into the
vault and from there to the body; the journal learns that somebody went, and never what they typed."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar, cast

from askback.answers import Accepted, Answer
from askback.errors import QuestionRefused, VisitFailed
from askback.model.durations import seconds_of
from askback.runtime.conversation import Conversation
from askback.runtime.current import current_conversation, verb
from askback.runtime.secrets import Secret, SecretField, Token
from askback.runtime.visit_flow import VisitPlan
from askback.schema.forms import require_message
from askback.server.page_host import CallerPages
from askback.vault.vault import VaultItem

T = TypeVar("T")

MAX_ATTEMPTS = 5
"""How often one call asks for the same secret: a person who was told so often that it is wrong has no other."""

MAX_NAME_LENGTH = 100
"""Characters: the name is shown on the page and in lists of what is kept."""

MAX_HINT_LENGTH = 300
"""Characters below a field: where to find what is typed there, and no more."""

MAX_SECRET_FIELDS = 10
"""On one page: more is a form, and a form of so many secrets is a design to think over."""

Seconds = timedelta | float | None


Fields = Mapping[str, SecretField | str] | Iterable[str] | None


@verb
async def secret(
    message: str, name: str, *, fields: Fields = None, keep: Seconds = None, timeout: Seconds = None
) -> Answer[Secret]:
    """A password, a key or the like, from the vault; the person is sent to a page of ours where it is not there yet.

    Args:
        message: what it is for, in words for that person.
        name: what it is kept under, for this caller: "weather key". Tools that use the same name share it.
        fields: where it has several parts: their labels by name, `{"user": "User name", "password": "Password"}`, or
            `SecretField`s.
        keep: how long it is kept; for good, if nothing is said.
        timeout: from the question to the end of the visit; then `TimedOut`.

    Gives `Accepted` with a `Secret`, which the body opens with `reveal()`; if it turns out to be wrong, say
    `await found.reject("The service did not take it")`, and the next `secret(...)` asks again, with that reason.
    """
    conversation = current_conversation("secret(...)")
    require_message(message)
    item, parts = VaultItem("secret", _name(name)), _parts(name, fields)
    kept_for, seconds = seconds_of(keep, "keep"), seconds_of(timeout, "timeout")
    pages: CallerPages = await conversation.context.open_pages("secret(...)")

    async def plan() -> VisitPlan:
        shown = [{"name": part, **asdict(field)} for part, field in parts.items()]
        return VisitPlan(
            kind="secret",
            message=message,
            link=pages.link,
            seconds=seconds,
            thing=name,
            about={"name": name, "fields": shown, "keep": kept_for},
        )

    return await _found_or_asked(
        conversation, partial(_place, "secret", name), partial(_kept, pages, item, parts), plan
    )


@verb
async def connect(
    provider: str, scopes: Collection[str] = (), *, message: str = "", timeout: Seconds = None
) -> Answer[Token]:
    """A token for another service, in the name of the person; they sign in there if they have not yet.

    Args:
        provider: the name of one of `Askback(server, providers=[...])`.
        scopes: what the token must be good for. What was agreed to before is asked for again only together with more.
        message: what it is for, in words for that person.
        timeout: from the question to the end of the visit; then `TimedOut`.

    Ask for it each time it is needed: it is refreshed when it must be.
    """
    conversation = current_conversation("connect(...)")
    wanted, seconds = _scopes(scopes), seconds_of(timeout, "timeout")
    pages: CallerPages = await conversation.context.open_pages("connect(...)")
    connection = pages.connection(provider)
    text = message or f"Sign in to {connection.title}, so that this tool can go on."
    require_message(text)

    async def plan() -> VisitPlan:
        return VisitPlan(
            kind="connect",
            message=text,
            link=pages.link,
            seconds=seconds,
            thing=provider,
            about={"provider": provider, "scopes": list(await connection.wanted(wanted))},
        )

    return await _found_or_asked(
        conversation, partial(_place, "connect", provider), partial(connection.token, wanted), plan
    )


@verb
async def disconnect(provider: str) -> bool:
    """Give back and forget what `connect` got for this caller; whether there was anything."""
    context = current_conversation("disconnect(...)").context
    pages: CallerPages = await context.open_pages("disconnect(...)")
    return await pages.connection(provider).disconnect()


async def _found_or_asked(
    conversation: Conversation,
    place: Callable[[int], str],
    look: Callable[[], Awaitable[T | None]],
    plan: Callable[[], Awaitable[VisitPlan]],
) -> Answer[T]:
    """What is kept, or what is kept after the person was there. A visit that was made and left nothing behind is one
    whose value was rejected since; then there is another."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        found = await look()
        if found is not None:
            return Accepted(found)
        key = place(attempt)
        if conversation.has_asked_at(key):
            continue
        answer = await conversation.visit(await plan(), key=key)
        if not isinstance(answer, Accepted):
            return answer
    found = await look()
    if found is None:
        raise VisitFailed(
            place=place(MAX_ATTEMPTS), reason=f"the person was asked {MAX_ATTEMPTS} times in one call."
        )
    return Accepted(found)


def _place(kind: str, name: str, attempt: int) -> str:
    return f"{kind}-{attempt}:{name}"


async def _kept(pages: CallerPages, item: VaultItem, parts: Collection[str]) -> Secret | None:
    """What is kept, if it has all the parts: an author may have added one since."""
    owner, vault = pages.owner, pages.vault
    kept = await vault.get(owner, item)
    if kept is None or not set(parts) <= set(kept.values):
        return None
    values = {part: kept.values[part] for part in parts}
    return Secret(item.name, values, reject=partial(vault.reject, owner, item, version=kept.version))


def _name(name: str) -> str:
    if _is_said(name, MAX_NAME_LENGTH):
        return name
    raise _refused(
        f"secret(..., {name!r:.80}) has no usable name: a readable text of 1 to {MAX_NAME_LENGTH} characters",
        "name what it is, such as 'weather key'",
    )


def _parts(name: str, fields: Fields) -> dict[str, SecretField]:
    if fields is None:
        return {"value": SecretField(label=name)}
    parts = {
        part: SecretField(label=field) if isinstance(field, str) else field
        for part, field in _given(name, fields)
    }
    if not 0 < len(parts) <= MAX_SECRET_FIELDS:
        raise _refused(f"secret({name!r}) has {len(parts)} fields", f"give it 1 to {MAX_SECRET_FIELDS}")
    for part, field in parts.items():
        if not (isinstance(part, str) and part.isidentifier() and _is_shown(field)):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            raise _refused(
                f"secret({name!r}) has a field {part!r:.80} that no page could show",
                f"give {{name: label}}, where the name is a Python name and the label a readable text of 1 to "
                f"{MAX_NAME_LENGTH} characters, or a SecretField",
            )
    return parts


def _given(name: str, fields: Fields) -> Iterable[tuple[str, Any]]:
    """Names and labels, of whatever kind; one text would be taken for a list of letters."""
    if isinstance(fields, Mapping):
        return cast("Mapping[str, Any]", fields).items()
    if isinstance(fields, str) or not isinstance(fields, Iterable):
        raise _refused(
            f"secret({name!r}, fields={fields!r:.80}) does not name fields",
            "give {name: label}, or leave fields out where there is one value",
        )
    return [(part, part) for part in fields]


def _is_shown(field: Any) -> bool:
    return (
        isinstance(field, SecretField)
        and _is_said(field.label, MAX_NAME_LENGTH)
        and isinstance(field.hint, str)  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        and (not field.hint or _is_said(field.hint, MAX_HINT_LENGTH))
    )


def _is_said(text: Any, most: int) -> bool:
    """Whether it is a line that a person can read and tell from others."""
    return isinstance(text, str) and 0 < len(text.strip()) == len(text) <= most and text.isprintable()


def _scopes(scopes: Collection[str]) -> tuple[str, ...]:
    if isinstance(scopes, str) or not all(
        _is_said(scope, MAX_NAME_LENGTH) and " " not in scope for scope in scopes
    ):
        raise _refused(
            f"connect(..., {scopes!r:.80}) does not name scopes",
            "give a list of them, such as ['openid', 'profile']",
        )
    return tuple(dict.fromkeys(scopes))


def _refused(problem: str, instead: str) -> QuestionRefused:
    return QuestionRefused(field=None, problem=problem, instead=instead)
