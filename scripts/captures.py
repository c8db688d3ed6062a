"""Writes docs/how-to/terminal/: the screens of the terminal as an emulator shows them, from real questions.

python -m scripts.captures
"""

from collections.abc import Callable
from pathlib import Path

from askback.client import labels
from tests.client.terminal.menu import EVERYTHING, FISHING
from tests.client.terminal.seat import Seat

PLACE = Path(__file__).parent.parent / "docs" / "how-to" / "terminal"

SETTLED = 0.3
"""Seconds without a new piece of the screen: on a busy machine the last line may come late."""

PIZZA = "Anything with your pizza?\nWe bake until ten."


def captures() -> dict[str, str]:
    """Every file by its name, as it should be."""
    screen, plain = Seat(), Seat("plain")
    try:
        taken = {name: take(screen) for name, take in ON_SCREEN.items()}
        taken |= {name: take(plain) for name, take in LINE_BY_LINE.items()}
    finally:
        screen.close()
        plain.close()
    return {f"{name}.txt": text for name, text in taken.items()}


def form(seat: Seat) -> str:
    terminal = seat.form("1 of 7", schema=EVERYTHING, message=PIZZA, name="Pizza Palace", number=2, behind=3)
    terminal.type("Ada\t")
    terminal.press("down", "tab", "down", "space")
    return _taken(seat, "[x] Olives")


def problem(seat: Seat) -> str:
    terminal = seat.form("1 of 2")
    terminal.press("tab", "backspace")
    terminal.type("25")
    return _taken(seat, "20 or less")


def narrow(seat: Seat) -> str:
    seat.terminal.resize(40, 20)
    terminal = seat.form("1 of 7", schema=EVERYTHING, message=PIZZA, number=3)
    terminal.press("tab")
    terminal.type("thi")
    text = _taken(seat, "find: thi")
    seat.terminal.resize(80, 24)
    return text


def review(seat: Seat) -> str:
    terminal = seat.form("1 of 7", schema=EVERYTHING, message=PIZZA)
    terminal.type("Ada\t")
    terminal.press("down", "tab", "tab", "backspace")
    terminal.type("5")
    terminal.press("review")
    return _taken(seat, "> Send <")


def sure(seat: Seat) -> str:
    terminal = seat.form("1 of 2", schema=FISHING, message="Please sign in.", label="weather")
    terminal.type("hunter2")
    terminal.press("review")
    terminal.until("> Send <")
    terminal.press("enter")
    return _taken(seat, "Are you sure?")


def gone(seat: Seat) -> str:
    terminal = seat.form("1 of 7", schema=EVERYTHING, message=PIZZA)
    terminal.type("Ada")
    terminal.until("Ada")
    seat.tell("withdraw", why=labels.GONE)
    return _taken(seat, "Leave", leave="enter")


def visit(seat: Seat) -> str:
    seat.visit(
        url="https://github.com.login.example/authorize?client=pizzeria", message="Please sign in to pay."
    )
    return _taken(seat, "> Decline Ctrl-D <")


def waiting(seat: Seat) -> str:
    terminal = seat.visit(url="https://pay.example.com/order/7", is_demanded=True)
    terminal.press("open")
    seat.answer()
    seat.order("wait", url="https://pay.example.com/order/7", id="7")
    terminal.until("opened in the browser", "Retry Ctrl-O", "0:00")
    seat.tell("pass", seconds=42)
    return _taken(seat, "0:42")


def plain_form(seat: Seat) -> str:
    seat.begin(message=PIZZA)
    seat.say("cola", "Field 2 of 2")
    seat.say("25", "20 or less")
    seat.say("3", "Review")
    return _taken(seat, "Type send")


def plain_visit(seat: Seat) -> str:
    seat.begin("visit", url="https://pay.example.com/order/7")
    return _taken(seat, "Enter alone declines.")


ON_SCREEN: dict[str, Callable[[Seat], str]] = {
    "form": form,
    "problem": problem,
    "narrow": narrow,
    "review": review,
    "sure": sure,
    "gone": gone,
    "visit": visit,
    "waiting": waiting,
}
LINE_BY_LINE: dict[str, Callable[[Seat], str]] = {"plain-form": plain_form, "plain-visit": plain_visit}


def _taken(seat: Seat, shown: str, *, leave: str = "cancel") -> str:
    """The screen once this is on it; then the question is put away."""
    seat.terminal.until(shown)
    seat.terminal.until_still(SETTLED)
    lines = seat.terminal.lines if not seat.is_plain else seat.terminal.bytes.decode().split("\r\n")
    seat.terminal.press(leave)
    seat.answer()
    return "\n".join(lines).strip("\n") + "\n"


if __name__ == "__main__":
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, text in captures().items():
        (PLACE / name).write_text(text)
        print(PLACE.name, name)
