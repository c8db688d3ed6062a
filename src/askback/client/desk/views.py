"""What the page gets to see, as JSON. Everything a server wrote is made safe here, and nowhere later (T14).

A field or an option is named by its place, so that no text of a server ever serves as a name in the page. Words that
the desk shares with the terminal are in `labels`.
"""

from collections.abc import Mapping
from typing import Any, Final

from askback.client import labels
from askback.client.desk.cards import WITHDRAWN, AnyCard, Board, FormCard, VisitCard, WaitCard
from askback.client.forms import Difference, FormEntry
from askback.client.person import VisitAsked
from askback.model import safe
from askback.model.question import Text

WORDS: Final = {
    "send": labels.SEND,
    "decline": labels.DECLINE,
    "cancel": labels.CANCEL,
    "decline_all": labels.DECLINE_ALL,
    "review": labels.REVIEW,
    "back": labels.BACK,
    "open": labels.OPEN,
    "done": labels.DONE,
    "retry": labels.RETRY,
    "close": "Close",
    "use_this_tab": "Use this tab",
    "optional": labels.OPTIONAL,
    "empty_choice": labels.EMPTY_CHOICE,
    "nothing_to_fill_in": labels.NOTHING_TO_FILL_IN,
    "explain": "Decline: say no. The server learns that you said no. Cancel: put it away without an answer.",
    "sure": labels.SEND_ANYWAY,
    "tick_first": "It seems to ask for a secret. Send what you typed anyway?",
    "press_space": "Enter does not open links. Press Space on the button, or click it.",
    "opening": "Opening your browser …",
    "by_hand": "No browser could be started from here. You have agreed: this button opens the page in this browser.",
    "open_here": "Open the page here",
    "waiting": "Come back to this page when you are finished on the other one.",
    "opened_again": labels.OPENED_AGAIN,
    "explain_wait": f"Done: go on with the call. {labels.RETRY_MEANS} Cancel: give the call up.",
}
"""By the names under which the page looks them up."""


CODE_REFUSED: Final = (
    "This link opens the desk once, and it was used before or is too old. Open the link that the program printed. "
    "If you did not use it before, somebody else on this machine did: end the program."
)

CLOSED: Final = "The desk is closed. Nothing more can be sent from this page; what you typed is still here."
RESTING: Final = "The desk is open in several newer tabs, so this one rests."


def count_changes(changed: int, fields: int) -> str:
    """How much of the form is the person's own doing."""
    if fields == 0:
        return labels.NOTHING_TO_FILL_IN
    if changed == 0:
        return "Nothing differs from the form as it came."
    fields_changed = "One field differs" if changed == 1 else f"{changed} fields differ"
    return f"{fields_changed} from the form as it came."


Json = dict[str, Any]

MAX_SUMMARY_LENGTH = 90
"""Characters of a message in the list of those that wait."""

ONE_LINE = 120
"""A text field that takes no more than this gets a box of one line."""


def view_board(board: Board) -> Json:
    """What a tab gets first; afterwards it hears of changes alone."""
    return {"words": WORDS, "cards": [view_summary(board, card) for card in board]}


def view_end(board: Board) -> Json:
    """Why the watch ends. A tab that only rests can be used again; a closed desk cannot."""
    return {
        "over": CLOSED if board.is_closed else RESTING,
        "rests": not board.is_closed,
    }


def view_summary(board: Board, card: AnyCard) -> Json:
    """One row of the list, or how a card ended."""
    if not board.holds(card):
        return {"id": card.id, "outcome": card.outcome or WITHDRAWN, "here": card.is_by_person}
    first, *rest = card.asked.message.strip().split("\n", 1)
    more = "…" if rest and len(first) < MAX_SUMMARY_LENGTH else ""
    return {
        "id": card.id,
        "who": safe.safe_line(card.asked.asker.label, labels.MAX_NAME_LENGTH),
        "what": {"form": "form", "visit": "link", "wait": "page under way"}[card.kind],
        "why": labels.purpose_line(card.asked),
        "message": safe.safe_line(first, MAX_SUMMARY_LENGTH) + more,
        "gone": card.gone,
    }


def view_card(card: AnyCard) -> Json:
    """A card in full, as it is opened. How many wait behind it the page knows from its list."""
    card.is_seen = True
    asker = card.asked.asker
    name = labels.name_by_server(asker)
    common = {
        "who": safe.safe_line(asker.label, labels.MAX_NAME_LENGTH),
        "says": None if name is None else safe.quote_safely(name, labels.MAX_NAME_LENGTH),
        "at": safe.safe_line(asker.host, 253) if asker.host else None,
        "id": card.id,
        "kind": card.kind,
        "why": labels.purpose_line(card.asked),
        "place": "A visit is under way" if isinstance(card, WaitCard) else labels.position_line(card.turn),
        "message": safe.safe_block(card.asked.message),
        "gone": card.gone,
    }
    match card:
        case FormCard():
            return {**common, **_form(card)}
        case VisitCard():
            return {**common, **_visit(card.visit), "href": card.href}
        case WaitCard():
            return {**common, **_visit(card.visit), "seconds": card.seconds}


def _form(card: FormCard) -> Json:
    blank, stops = card.form.blank, _stops(card)
    return {
        "banner": None if card.suspicion is None else f"{labels.BANNER} {card.suspicion}",
        "refusal": blank.refusal,
        "left_out": [labels.describe_left_out(one) for one in blank.left_out],
        "fields": [_field(card, entry, stops) for entry in card.entries],
    }


def _field(card: FormCard, entry: FormEntry, stops: Mapping[str, str]) -> Json:
    return {
        "label": safe.safe_line(entry.label),
        "hint": "\n".join(safe.safe_block(entry.hint)) if entry.hint else "",
        "kind": entry.kind,
        "required": entry.is_required,
        "expects": entry.expects,
        "suspicion": "This field seems to ask for a secret." if entry.suspicion else None,
        "options": [safe.safe_line(option.shown) for option in entry.options],
        "filled": _filled(card, entry),
        "long": isinstance(entry.field, Text) and entry.kind == "text" and _is_long(entry.field),
        "problem": card.draft.problem(entry.name) if entry.name in card.touched else None,
        "stop": stops.get(entry.name),
    }


def _is_long(field: Text) -> bool:
    is_bounded = field.max_length is not None and field.max_length <= ONE_LINE
    return not is_bounded or "\n" in (field.default or "")


def _filled(card: FormCard, entry: FormEntry) -> Any:
    """What stands in the field; chosen options by their places."""
    value = card.draft.value(entry.name)
    places = {option.value: place for place, option in enumerate(entry.options)}
    match entry.kind:
        case "boolean":
            return value
        case "choice":
            return places.get(value)
        case "choices":
            return [places[one] for one in value or () if one in places]
        case _:
            return card.draft.text(entry.name)


def _stops(card: FormCard) -> dict[str, str]:
    """By field, why something that was pasted holds up the sending."""
    held_up = card.draft.stops()
    return {
        entry.name: labels.key_warning(entry, held_up[entry.name])
        for entry in card.entries
        if entry.name in held_up
    }


def view_field_note(card: FormCard, index: int, problem: str | None) -> Json:
    """What is to be said of a field that has just changed."""
    return {"problem": problem, "stop": _stops(card).get(card.entry(index).name)}


def view_review(card: FormCard) -> Json:
    """Either what has to be mended, or the whole answer as it would be sent."""
    problems, stops = _by_place(card, card.draft.problems()), _by_place(card, _stops(card))
    found: Json = {"stamp": card.stamp, "problems": problems, "stops": stops}
    if count := len(problems.keys() | stops.keys()):
        answers = "One answer needs" if count == 1 else f"{count} answers need"
        return {**found, "said": f"{answers} another look."}
    differences = {difference.entry.name: difference for difference in card.draft.differences()}
    lines = [_line(card, entry, differences.get(entry.name)) for entry in card.entries]
    return {**found, "lines": lines, "said": count_changes(len(differences), len(card.entries))}


def _by_place(card: FormCard, notes: Mapping[str, str]) -> dict[int, str]:
    return {index: notes[entry.name] for index, entry in enumerate(card.entries) if entry.name in notes}


def _line(card: FormCard, entry: FormEntry, difference: Difference | None) -> Json:
    text = card.draft.shown(entry.name)
    unchanged = "not filled in" if entry.default is None else "as it came"
    return {
        "label": safe.safe_line(entry.label),
        "value": safe.safe_lines(text) if text else [labels.EMPTY],
        "mark": unchanged if difference is None else labels.describe_change(difference),
        "sent": labels.describe_sent_value(entry, card.draft.value(entry.name)),
        "changed": difference is not None,
    }


def _visit(asked: VisitAsked) -> Json:
    visit = labels.view_visit(asked)
    return {
        "whole_who": labels.who_asks(asked.asker),
        "purpose": visit.why,
        "where": visit.where,
        "url": [visit.url],
        "warnings": visit.warnings,
        "note": visit.note,
        "refusal": visit.refusal,
    }
