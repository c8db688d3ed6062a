"""Words of the desk alone; those that it shares with the terminal are in `labels`."""

from typing import Final

from askback.client import labels
from askback.client.forms import Difference, Entry
from askback.client.safe import line

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
    "optional": labels.OPTIONAL,
    "explain": f"{labels.DECLINE_MEANS} {labels.CANCEL_MEANS}",
    "sure": labels.SEND_ANYWAY,
    "tick_first": labels.CONFIRM_SUSPECT,
    "press_space": "Enter does not open links. Press Space on the button, or click it.",
    "opening": "Opening your browser …",
    "by_hand": "No browser could be started from here. You have agreed: this button opens the page in this browser.",
    "open_here": "Open the page here",
    "waiting": "Come back to this page when you are finished on the other one.",
    "opened_again": labels.OPENED_AGAIN,
    "explain_wait": f"{labels.DONE_MEANS} {labels.RETRY_MEANS} {labels.CANCEL_WAIT_MEANS}",
}
"""By the names under which the page looks them up."""

WHAT: Final = {"form": "form", "visit": "link", "wait": "page under way"}

SUSPECT_FIELD: Final = "This field seems to ask for a secret."
"""Why is said once, above the form."""

UNDER_WAY: Final = "A visit is under way"
LEFT_OUT: Final = "A field cannot be shown and is left out: “{name}”, because {why}."
SENT_AS: Final = "sent as “{value}”"

CODE_REFUSED: Final = (
    "This link opens the desk once, and it was used before or is too old. Open the link that the program printed. "
    "If nobody of yours used it before, somebody else on this machine did: end the program."
)

CLOSED: Final = "The desk is closed. Nothing more can be sent from this page; what you typed is still here."
RESTING: Final = "The desk is open in several newer tabs, so this one rests."

_MOST_BEFORE: Final = 60
"""Characters of what stood there before, on the review."""


def to_mend(count: int) -> str:
    return "One answer needs another look." if count == 1 else f"{count} answers need another look."


def changes(changed: int, fields: int) -> str:
    """How much of the form is the person's own doing."""
    if fields == 0:
        return "The form has no fields: sending it says yes."
    if changed == 0:
        return "Nothing differs from the form as it came."
    fields_changed = "One field differs" if changed == 1 else f"{changed} fields differ"
    return f"{fields_changed} from the form as it came."


def marked(entry: Entry, difference: Difference | None) -> str:
    """What became of a field, in words, so that no colour is needed to see it."""
    if difference is None:
        return "as it came" if entry.default is not None else "not filled in"
    if not difference.before:
        return "filled in by you"
    if not difference.after:
        return f"emptied by you, was: {line(difference.before, _MOST_BEFORE)}"
    return f"changed by you, was: {line(difference.before, _MOST_BEFORE)}"
