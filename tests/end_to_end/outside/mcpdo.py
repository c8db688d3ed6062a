"""Inspector's command line client, mcpdo, as a guest. It checks no reply, so it can also give a wrong one."""

import json
import socket
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.programs import ENDING, ROOT, listening, run
from tests.support.strangers import inspector_command, inspector_environment

ERAS = {"legacy": "server-request", "modern": "input-required"}
"""How mcpdo calls the push era and the rounds era, and what it says a question of each came as."""

CONNECTIONS = [f"{era} {how}" for era in ERAS for how in ("stdio", "http")]

CORNERS = ["legacy stdio", "modern http"]
"""Each era and each transport once."""


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
    """One connection to a server."""

    mcpdo: Mcpdo
    era: str

    def call(self, tool: str, *words: str) -> dict[str, Any]:
        """The tool's first question, or its result."""
        return self._asked(self.mcpdo("--connection", "server", "tools/call", tool, *words))

    def answer(self, question: dict[str, Any], *words: str) -> dict[str, Any]:
        """The next question, or the result."""
        return self._asked(self.mcpdo("elicitation/respond", question["elicitationId"], *words))

    def _asked(self, printed: dict[str, Any]) -> dict[str, Any]:
        question: dict[str, Any] | None = printed.get("elicitationPending")
        if question is None:
            return printed
        assert question["origin"] == ERAS[self.era]
        return question


@contextmanager
def guest_at(connection: str, *, stdio: Sequence[str], http: Sequence[str]) -> Generator[Guest]:
    """A guest at the server that Python runs with these words, the ones or the others."""
    era, how = connection.split()
    with ExitStack() as stack:
        if how == "http":
            target = [stack.enter_context(listening(*http))]
        else:
            target = ["--cwd", str(ROOT), "--", sys.executable, *stdio]
        mcpdo = Mcpdo(home=Path(stack.enter_context(TemporaryDirectory(prefix="mcpdo-"))))
        stack.callback(mcpdo.stop)
        connected = mcpdo("--connection", "server", "connect", "--era", era, "--transport", how, *target)
        assert connected["protocolEra"] == era
        yield Guest(mcpdo=mcpdo, era=era)


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]
