"""server-everything from npm, called from a terminal by somebody who types: `askback call`."""

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.outside.everything import (
    DEFAULTS,
    DEMANDED,
    DEMANDING,
    FILLED,
    FORM_TOOL,
    LINK,
    LINK_TOOL,
    Visitor,
    reply_in,
)
from tests.support.terminal_emulator import Emulator

pytestmark = pytest.mark.strangers

Call = Callable[..., Emulator]


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    return Visitor(tmp_path)


@pytest.fixture
def call(visitor: Visitor) -> Generator[Call, None, None]:
    """Run `askback call` on a screen that holds the whole result."""
    terminals: list[Emulator] = []

    def run(tool: str, arguments: dict[str, Any], *options: str) -> Emulator:
        command = visitor.call(tool, arguments, *options)
        terminals.append(Emulator(command, columns=120, rows=60, environment=visitor.environment))
        return terminals[-1]

    yield run
    for terminal in terminals:
        terminal.close()


def reply_on(terminal: Emulator) -> Any:
    """What the server was sent, once it says so on the screen."""

    def is_whole() -> bool:
        try:
            reply_in(terminal.text)
        except json.JSONDecodeError:
            return False
        return True

    terminal.until_that(is_whole, "the result")
    return reply_in(terminal.text)


@pytest.mark.verifies("R47", "R49", "R55", "R57", "R58")
def test_all_thirteen_fields_of_its_form_are_typed_and_chosen(call: Call):
    terminal = call(FORM_TOOL, {})
    terminal.ready("everything asks", f"for: tool {FORM_TOOL}", "1 of 13")
    terminal.type("Ada\t")
    terminal.press("down", "tab", "tab")
    terminal.type("ada@inn.example\thttps://ada.example/\t1990-12-10\t")
    terminal.press("backspace", "backspace")
    terminal.type("7")
    terminal.press("tab", "tab", "tab")
    terminal.until("> Untitled Multiple Select Enum")
    terminal.press("space", "down", "space", "down", "down", "down", "space", "tab")
    terminal.type("Wonder")
    terminal.press("tab", "tab")
    terminal.type("Dogs")
    terminal.press("review")
    terminal.ready("Review what is sent to everything", "changed by you, was: 42")
    terminal.press("enter")
    assert reply_on(terminal) == {"action": "accept", "content": FILLED}


@pytest.mark.verifies("R57")
def test_what_nobody_touches_goes_back_as_it_came_line_by_line(call: Call):
    terminal = call(FORM_TOOL, {}, "--plain")
    for number in range(1, 14):
        terminal.until(f"Field {number} of 13")
        terminal.until_that(lambda: terminal.lines[terminal.screen.cursor.y] == ">", "a line to type on")
        terminal.type("Ada\r" if number == 1 else "\r")
    terminal.until("send")
    terminal.until_that(lambda: terminal.lines[terminal.screen.cursor.y] == ">", "a line to type on")
    terminal.type("send\r")
    assert reply_on(terminal) == {"action": "accept", "content": DEFAULTS | {"name": "Ada"}}


@pytest.mark.verifies("R48", "R52")
@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [(FORM_TOOL, {}, "cancel"), (LINK_TOOL, LINK, "decline")],
    ids=["form", "link"],
)
def test_no_is_one_key_and_not_the_other(
    call: Call, visitor: Visitor, tool: str, arguments: dict[str, Any], key: str
):
    terminal = call(tool, arguments)
    terminal.ready("Decline Ctrl-D", "Cancel Ctrl-C")
    terminal.press(key)
    assert reply_on(terminal) == {"action": key}
    assert visitor.opened == []


@pytest.mark.verifies("R47", "R59", "R60", "R61", "R63", "R67")
def test_its_link_is_shown_whole_and_opens_in_the_persons_browser(call: Call, visitor: Visitor):
    terminal = call(LINK_TOOL, LINK)
    terminal.ready("who    everything", "where  [inn.example]", f"why    tool {LINK_TOOL}", LINK["url"])
    assert visitor.opened == []
    terminal.press("open")
    assert reply_on(terminal) == {"action": "accept"}
    assert visitor.opened == [LINK["url"]]


@pytest.mark.verifies("R66", "R79")
def test_its_demanded_visit_is_made_waited_for_and_the_call_made_again(call: Call, visitor: Visitor):
    terminal = call(LINK_TOOL, DEMANDING)
    terminal.ready(DEMANDED)
    terminal.press("open")
    terminal.ready("Waiting for everything", "Done Enter")
    assert visitor.opened == [DEMANDED]
    # The few rows of a wait have no room to say that keys must wait: they count when it is next drawn.
    drawn = terminal.text
    terminal.until_that(lambda: terminal.text != drawn, "the clock to go on")
    terminal.press("enter")
    terminal.ready(LINK["url"])
    terminal.press("open")
    assert reply_on(terminal) == {"action": "accept"}
    assert visitor.opened == [DEMANDED, LINK["url"]]
