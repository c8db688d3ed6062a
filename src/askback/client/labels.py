"""The words that both surfaces use, so that a person who knows one knows the other. All of them ours."""

from typing import TYPE_CHECKING, Final

from askback.client.safe import line

if TYPE_CHECKING:  # a turn holds a verdict on its link, and what is shown of that is worded here
    from askback.client.person import Asked, Asker, Turn

SEND: Final = "Send"
DECLINE: Final = "Decline"
CANCEL: Final = "Cancel"
REVIEW: Final = "Review"
BACK: Final = "Back"
DECLINE_ALL: Final = "Decline all from this server"
SEND_ANYWAY: Final = "Send it all the same"
OPEN: Final = "Open in the browser"
DONE: Final = "Done"
RETRY: Final = "Retry"
LEAVE: Final = "Leave"

DECLINE_MEANS: Final = "Decline: say no. The server learns that you said no."
CANCEL_MEANS: Final = "Cancel: put it away without an answer."
DONE_MEANS: Final = "Done: go on with the call."
RETRY_MEANS: Final = "Retry: open the page again."
CANCEL_WAIT_MEANS: Final = "Cancel: give the call up."

OPENED_AGAIN: Final = "The page was opened again."
NO_BROWSER: Final = "No browser opens here."

NEEDED: Final = "needed"
OPTIONAL: Final = "may stay empty"
EMPTY: Final = "empty"
YES: Final = "yes"
NO: Final = "no"

BANNER: Final = "This may be fishing for a secret."
"""Stands above a form under suspicion; the reason stands below it, and one more confirmation before it is sent."""

CONFIRM_SUSPECT: Final = "It seems to ask for a secret. Send what you typed all the same?"
KEY_STOPPED: Final = "{label} {why}. It is not sent unless you say that it may be."

GONE: Final = "The server is not there any more. What you have written here is not sent."
GONE_WITHDRAWN: Final = "The server has taken this question back. What you have written here is not sent."
GONE_ENDED: Final = "The call has ended without this answer. What you have written here is not sent."
GONE_GIVEN_UP: Final = (
    "Whoever started this call has given it up. Nothing is sent; what you typed is still here."
)

MOST_REPEATED: Final = 80
"""Characters of a server's message that errors and logs of ours repeat."""

_MOST_NAME: Final = 60
"""Characters of a name in a line of ours: the rest of the line must stay in sight."""


def who_asks(asker: "Asker") -> str:
    """The person's own word for the server first, then what it says of itself, in quotes."""
    name = (asker.name or "").strip()
    said = f", which calls itself “{line(name, _MOST_NAME)}”" if name not in {"", asker.label} else ""
    where = f" at {line(asker.host, 253)}" if asker.host else ""
    return f"{line(asker.label, _MOST_NAME)}{where}{said}"


def why(asked: "Asked") -> str:
    """The call that the question belongs to."""
    return f"for: {line(asked.purpose)}"


def place(turn: "Turn") -> str:
    """Which question of this call it is, and how many wait behind it."""
    waiting = f", {turn.behind} more waiting" if turn.behind else ""
    return f"Question {turn.number}{waiting}"
