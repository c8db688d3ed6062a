"""Inspector's command line client, mcpdo, at the pizzeria. It checks no reply, so it can also give a wrong one."""

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.outside.programs import ENDING, ROOT, listening, run
from tests.strangers import inspector_command, inspector_environment

pytestmark = pytest.mark.strangers

ERAS = {"legacy": "server-request", "modern": "input-required"}
"""How mcpdo calls the push era and the rounds era, and what it says a question of each came as."""

PIZZERIA = "examples.pizzeria.server"
OVER_HTTP = f"from {PIZZERIA} import mcp; mcp.run('streamable-http', port=0)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcpdo:
    """One mcpdo with its daemon, which keeps the connections; both live in `home`."""

    home: Path

    def __call__(self, *words: str) -> dict[str, Any]:
        """What the command printed. A tool that failed is printed too."""
        command = [*inspector_command(), "--format", "json", *words]
        ended = run(command, environment=inspector_environment(self.home))
        assert ended.stdout, f"mcpdo {' '.join(words)} said nothing but: {ended.stderr}"
        return json.loads(ended.stdout)

    def stop(self) -> None:
        """End the daemon, if one was started, and with it the servers that it started."""
        door = self.home / "mcpdod.sock"
        if not door.exists():
            return
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(ENDING)
            line.connect(str(door))
            self("daemon", "stop")
            assert line.recv(1) == b"", "mcpdo's daemon hangs up when its servers have ended."


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """One connection to the pizzeria."""

    mcpdo: Mcpdo
    era: str

    def order(self, pizza: str) -> dict[str, Any]:
        return self._asked(self.mcpdo("--connection", "pizzeria", "tools/call", "order", f"pizza:={pizza}"))

    def answer(self, question: dict[str, Any], *words: str) -> dict[str, Any]:
        return self._asked(self.mcpdo("elicitation/respond", question["elicitationId"], *words))

    def _asked(self, printed: dict[str, Any]) -> dict[str, Any]:
        """The question, if one is pending, or the result."""
        question: dict[str, Any] | None = printed.get("elicitationPending")
        if question is None:
            return printed
        assert question["origin"] == ERAS[self.era]
        return question


@pytest.fixture(scope="module", params=[f"{era} {how}" for era in ERAS for how in ("stdio", "http")])
def guest(request: pytest.FixtureRequest) -> Iterator[Guest]:
    era, how = request.param.split()
    with ExitStack() as stack:
        if how == "http":
            target = [stack.enter_context(listening("-c", OVER_HTTP))]
        else:
            target = ["--cwd", str(ROOT), "--", sys.executable, "-m", PIZZERIA]
        mcpdo = Mcpdo(home=Path(stack.enter_context(TemporaryDirectory(prefix="mcpdo-"))))
        stack.callback(mcpdo.stop)
        connected = mcpdo("--connection", "pizzeria", "connect", "--era", era, "--transport", how, *target)
        assert connected["protocolEra"] == era
        yield Guest(mcpdo=mcpdo, era=era)


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def test_who_accepts_gets_a_pizza(guest: Guest):
    extras = guest.order("Margherita")
    assert extras["message"] == "Anything with your pizza?"
    assert extras["requestedSchema"]["properties"]["drink"]["enum"] == ["none", "cola", "water"]
    confirmation = guest.answer(extras, "drink:=cola", "tip:=2")
    assert confirmation["message"] == "Order Margherita with cola?"
    result = guest.answer(confirmation, "yes:=true")
    assert text_of(result).endswith(": Margherita, cola, tip 2")
    assert not result["isError"]


@pytest.mark.verifies("R15")
def test_who_declines_and_who_cancels_are_told_apart(guest: Guest):
    declined = guest.answer(guest.order("Margherita"), "--decline")
    assert text_of(declined) == "Ordered Margherita without extras."
    cancelled = guest.answer(guest.order("Margherita"), "--cancel")
    assert text_of(cancelled) == "Ask me again when you like."


@pytest.mark.verifies("R14")
def test_a_reply_that_does_not_fit_is_asked_again_with_the_problem_named(guest: Guest):
    again = guest.answer(guest.order("Margherita"), '{"drink": "wine", "tip": 99}')
    assert again["message"].startswith("Anything with your pizza?")
    assert "20" in again["message"], "what the tip may be"
    assert "cola" in again["message"], "what there is to drink"
    confirmation = guest.answer(again, "drink:=water")
    assert confirmation["message"] == "Order Margherita with water?"
    assert text_of(guest.answer(confirmation, "--decline")) == "Nothing ordered."
