"""Inspector's command line client, mcpdo, at the pizzeria."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.outside.mcpdo import CONNECTIONS, Guest, guest_at, text_of

pytestmark = pytest.mark.strangers

PIZZERIA = "examples.pizzeria.server"
OVER_HTTP = f"from {PIZZERIA} import mcp; mcp.run('streamable-http', port=0)"


@pytest.fixture(scope="module", params=CONNECTIONS)
def guest(request: pytest.FixtureRequest) -> Iterator[Guest]:
    with guest_at(request.param, stdio=["-m", PIZZERIA], http=["-c", OVER_HTTP]) as guest:
        yield guest


def test_who_accepts_gets_a_pizza(guest: Guest):
    extras = guest.call("order", "pizza:=Margherita")
    assert extras["message"] == "Anything with your pizza?"
    assert extras["requestedSchema"]["properties"]["drink"]["enum"] == ["none", "cola", "water"]
    confirmation = guest.answer(extras, "drink:=cola", "tip:=2")
    assert confirmation["message"] == "Order Margherita with cola?"
    result = guest.answer(confirmation, "yes:=true")
    assert text_of(result).endswith(": Margherita, cola, tip 2")
    assert not result["isError"]


@pytest.mark.verifies("R15")
def test_who_declines_and_who_cancels_are_told_apart(guest: Guest):
    declined = guest.answer(guest.call("order", "pizza:=Margherita"), "--decline")
    assert text_of(declined) == "Ordered Margherita without extras."
    cancelled = guest.answer(guest.call("order", "pizza:=Margherita"), "--cancel")
    assert text_of(cancelled) == "Ask me again when you like."


@pytest.mark.verifies("R14")
def test_a_reply_that_does_not_fit_is_asked_again_with_the_problem_named(guest: Guest):
    again = guest.answer(guest.call("order", "pizza:=Margherita"), '{"drink": "wine", "tip": 99}')
    assert again["message"].startswith("Anything with your pizza?")
    assert "20" in again["message"], "what the tip may be"
    assert "cola" in again["message"], "what there is to drink"
    confirmation = guest.answer(again, "drink:=water")
    assert confirmation["message"] == "Order Margherita with water?"
    assert text_of(guest.answer(confirmation, "--decline")) == "Nothing ordered."
