"""mcpdo at the cafes: every style of asking, on FastMCP and on MCPServer."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.outside.cafes import STYLES
from tests.end_to_end.outside.mcpdo import CORNERS, Guest, guest_at, text_of

pytestmark = pytest.mark.strangers

CAFE = "tests.end_to_end.outside.cafes"


def guest_at_cafe(host: str, connection: str) -> Iterator[Guest]:
    with guest_at(connection, stdio=["-m", CAFE, host, "stdio"], http=["-m", CAFE, host, "http"]) as guest:
        yield guest


@pytest.fixture(scope="module", params=CORNERS)
def at_fastmcp(request: pytest.FixtureRequest) -> Iterator[Guest]:
    yield from guest_at_cafe("FastMCP", request.param)


@pytest.fixture(scope="module", params=CORNERS)
def at_mcpserver(request: pytest.FixtureRequest) -> Iterator[Guest]:
    yield from guest_at_cafe("MCPServer", request.param)


@pytest.mark.parametrize("tool", STYLES["FastMCP"])
def test_who_accepts_is_served(tool: str, at_fastmcp: Guest):
    asked = at_fastmcp.call(tool)
    assert asked["message"] == "What would you like?"
    served = at_fastmcp.answer(asked, "drink:=tea")
    assert (text_of(served), served["isError"]) == ("One tea.", False)


@pytest.mark.parametrize("tool", ["elicit", "own"])
def test_who_declines_is_not(tool: str, at_fastmcp: Guest):
    assert text_of(at_fastmcp.answer(at_fastmcp.call(tool), "--decline")) == "Nothing, then."


def test_what_is_not_on_the_menu_is_asked_again(at_fastmcp: Guest):
    again = at_fastmcp.answer(at_fastmcp.call("elicit"), '{"drink": "wine"}')
    assert "coffee" in again["message"], "what there is to drink"
    assert text_of(at_fastmcp.answer(again, "--cancel")) == "Ask me again later."


def test_a_resolver_gets_its_answer(at_mcpserver: Guest):
    asked = at_mcpserver.call("resolve")
    assert asked["message"] == "What would you like?"
    assert text_of(at_mcpserver.answer(asked, "drink:=coffee")) == "One coffee."


def test_a_link_is_opened_or_left(at_mcpserver: Guest):
    link = at_mcpserver.call("visit")
    assert link["url"].startswith("https://till.example/pay/")
    assert text_of(at_mcpserver.answer(link, "--done")) == "One tea."
    left = at_mcpserver.answer(at_mcpserver.call("visit"), "--cancel")
    assert text_of(left) == "Ask me again later."
