"""The words and values that both surfaces show, so that a person who knows one knows the other. Words are ours; all
that a server wrote passes through `safe`."""

from dataclasses import dataclass
from typing import Any, Final, cast

from askback.client.consent.verdict import MAX_URL_LENGTH
from askback.client.forms import Difference, Draft, FormEntry, LeftOut
from askback.client.person import Asked, Asker, Turn, VisitAsked
from askback.model.safe import quote_safely, safe_line, safe_lines, safe_text

SEND: Final = "Send"
DECLINE: Final = "Decline"
CANCEL: Final = "Cancel"
REVIEW: Final = "Review"
BACK: Final = "Back"
DECLINE_ALL: Final = "Decline all from this server"
SEND_ANYWAY: Final = "Send it anyway"
OPEN: Final = "Open in the browser"
DONE: Final = "Done"
RETRY: Final = "Retry"
LEAVE: Final = "Leave"

RETRY_MEANS: Final = "Retry: open the page again."

GOES_ON: Final = "The call goes on by itself when the server hears that you are done there; {stop}."
"""Shown after a link was opened, where the person need not come back and say that they are done."""

OPENED_AGAIN: Final = "The page was opened again."
NO_BROWSER: Final = "No browser opens here."

NEEDED: Final = "needed"
OPTIONAL: Final = "may stay empty"
EMPTY: Final = "empty"
YES: Final = "yes"
NO: Final = "no"

EMPTY_CHOICE: Final = "leave it empty"
"""Among the options of a field that may stay empty."""

NOTHING_TO_FILL_IN: Final = "There is nothing to fill in: sending it says yes."
"""Instead of the fields of a form that has none."""

BANNER: Final = "This may be fishing for a secret."
"""Stands above a form under suspicion; the reason stands below it, and one more confirmation before it is sent."""


GONE: Final = "The server is not there any more. What you have written here is not sent."
GONE_WITHDRAWN: Final = "The server has taken this question back. What you have written here is not sent."
GONE_ENDED: Final = "The call has ended without this answer. What you have written here is not sent."
GONE_GIVEN_UP: Final = (
    "Whoever started this call has given it up. Nothing is sent; what you typed is still here."
)

MAX_REPEATED_LENGTH: Final = 80
"""Characters of a server's message that errors and logs of ours repeat."""

MAX_NAME_LENGTH: Final = 60
"""Characters of a name in a line of ours: the rest of the line must stay in sight."""


def who_asks(asker: Asker) -> str:
    """The person's own word for the server first, then what it says of itself, in quotes."""
    said = (
        f", which calls itself {quote_safely(name, MAX_NAME_LENGTH)}"
        if (name := name_by_server(asker))
        else ""
    )
    where = f" at {safe_line(asker.host, 253)}" if asker.host else ""
    return f"{safe_line(asker.label, MAX_NAME_LENGTH)}{where}{said}"


def name_by_server(asker: Asker) -> str | None:
    """The name a server gives itself, as it came; None where that says no more than the label."""
    name = (asker.name or "").strip()
    return None if name in {"", asker.label.strip()} else name


def purpose_line(asked: Asked) -> str:
    """The call that the question belongs to."""
    return f"for: {safe_line(asked.purpose)}"


def position_line(turn: Turn) -> str:
    """Which question of this call it is, and how many wait behind it."""
    waiting = f", {turn.behind} more waiting" if turn.behind else ""
    return f"Question {turn.number}{waiting}"


def describe_change(difference: Difference) -> str:
    """How a field differs from the form as it came. What stood there ends the line, so that our words come first."""
    if not difference.before:
        return "filled in by you"
    note = f" ({difference.note})" if difference.note else ""
    done = "emptied" if note or not difference.after else "changed"
    return f"{done} by you{note}, was: {safe_line(difference.before)}"


def describe_sent_value(entry: FormEntry, value: Any) -> str | None:
    """What goes out, in full, where that is not what the person reads: a title need not mean its value."""
    titles = {option.value: option.shown for option in entry.options}
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    chosen: list[str] = [one for one in values if one in titles]
    if all(titles[one] == one for one in chosen):
        return None
    return f"sent as: {safe_text(', '.join(chosen))}"


def describe_left_out(one: LeftOut) -> str:
    """Says that a field of the form is left out, and why."""
    return f"A field cannot be shown and is left out: {quote_safely(one.name)}, because {one.why}."


def label_of(entry: FormEntry) -> str:
    """What the server calls the field."""
    return safe_line(entry.label)


def titles(entry: FormEntry) -> list[tuple[Any, str]]:
    """What can be chosen in this field, each with the words for it; nothing where it is typed."""
    if entry.kind == "boolean":
        return [(True, YES), (False, NO)]
    return [(option.value, safe_line(option.shown)) for option in entry.options]


def value_line(entry: FormEntry, draft: Draft) -> str:
    """What stands in the field, on one line."""
    return safe_line(draft.shown(entry.name)) or f"({EMPTY}{f', {NEEDED}' if entry.is_required else ''})"


def value_lines(entry: FormEntry, draft: Draft) -> list[str]:
    """What will be sent, however long: a draft takes no more than can be read."""
    text = draft.shown(entry.name)
    return safe_lines(text) if text else [value_line(entry, draft)]


def notes_on_sending(entry: FormEntry, draft: Draft) -> list[str]:
    """Our words on what will be sent: the value behind a title, and how it differs from the form as it came."""
    behind = describe_sent_value(entry, draft.value(entry.name))
    return [*([behind] if behind else []), *notes_on_change(entry, draft)]


def notes_on_change(entry: FormEntry, draft: Draft) -> list[str]:
    """Nothing where it stands as it came."""
    change = draft.difference(entry.name)
    return [] if change is None else [describe_change(change)]


def expectation(entry: FormEntry) -> str:
    """What fits, and whether it may be left out."""
    return f"{entry.expects}, {NEEDED if entry.is_required else OPTIONAL}"


def key_warning(entry: FormEntry, why: str) -> str:
    """Why something that was pasted holds up the sending."""
    return f"{label_of(entry)} {why}. It is not sent unless you say that it may be."


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitView:
    """Safe text, ready to be drawn."""

    who: str
    where: tuple[str, str, str]
    """The host in three pieces: what stands before the registrable domain, the domain, what stands behind it."""
    why: str
    url: str
    """The whole link as it will be opened, or as it was written where it never will be."""
    warnings: tuple[str, ...]
    note: str
    """A fact that is no reason for care; often empty."""
    refusal: str | None


def view_visit(asked: VisitAsked) -> VisitView:
    """What a person is shown of a visit before anything is opened: the host cut around its registered domain."""
    verdict = asked.verdict
    before, domain, after = verdict.host.rpartition(verdict.domain) if verdict.domain else ("", "", "")
    url = verdict.href if verdict.allowed else asked.url
    return VisitView(
        who=who_asks(asked.asker),
        where=(safe_line(before, MAX_URL_LENGTH), safe_line(domain, MAX_URL_LENGTH), safe_line(after)),
        why=safe_line(asked.purpose),
        url=safe_line(url, MAX_URL_LENGTH),
        warnings=tuple(
            safe_line(warning, MAX_URL_LENGTH) for warning in verdict.warnings if warning != verdict.refusal
        ),
        note="" if verdict.refusal else verdict.note,
        refusal=verdict.refusal,
    )
