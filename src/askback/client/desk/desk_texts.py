"""Words of the desk alone; those that it shares with the terminal are in `labels`."""

from typing import Final

from askback.client import labels

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

GOES_ON: Final = labels.GOES_ON.format(stop="to give it up, end the program that made it")

SUSPECT_FIELD: Final = "This field seems to ask for a secret."
"""Why is said once, above the form."""

UNDER_WAY: Final = "A visit is under way"

CODE_REFUSED: Final = (
    "This link opens the desk once, and it was used before or is too old. Open the link that the program printed. "
    "If nobody of yours used it before, somebody else on this machine did: end the program."
)

CLOSED: Final = "The desk is closed. Nothing more can be sent from this page; what you typed is still here."
RESTING: Final = "The desk is open in several newer tabs, so this one rests."

AS_IT_CAME: Final = "as it came"
NOT_FILLED_IN: Final = "not filled in"
"""Both on the review, of a field that nobody changed: with a default and without."""


def to_mend(count: int) -> str:
    return "One answer needs another look." if count == 1 else f"{count} answers need another look."


def changes(changed: int, fields: int) -> str:
    """How much of the form is the person's own doing."""
    if fields == 0:
        return labels.NOTHING_TO_FILL_IN
    if changed == 0:
        return "Nothing differs from the form as it came."
    fields_changed = "One field differs" if changed == 1 else f"{changed} fields differ"
    return f"{fields_changed} from the form as it came."
