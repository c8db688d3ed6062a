"""Answers that nobody asked for, line by line over a real pipe, in the era in which a server asks by itself."""

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

import pytest

from tests.guards.people.errands import Errands
from tests.guards.people.serving import command
from tests.support.programs import ENDING, ROOT, STARTING

pytestmark = pytest.mark.slow

YES = {"action": "accept", "content": {"yes": True}}
HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "forger", "version": "1"},
}


class Forger:
    """A client that writes what it likes."""

    def __init__(self, words: list[str]) -> None:
        self._server = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._server.stdin is not None and self._server.stdout is not None
        self._in = self._server.stdin
        self._heard: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._listening = Thread(target=self._listen, args=(self._server.stdout,), daemon=True)
        self._listening.start()
        self.say(id=1, method="initialize", params=HELLO)
        self.hear(id=1)
        self.say(method="notifications/initialized")

    def _listen(self, lines: IO[str]) -> None:
        for line in lines:
            self._heard.put(json.loads(line))

    def say(self, **fields: Any) -> None:
        self._in.write(json.dumps({"jsonrpc": "2.0", **fields}) + "\n")
        self._in.flush()

    def hear(self, **fields: Any) -> dict[str, Any]:
        """The next message with these fields."""
        while True:
            message = self._heard.get(timeout=STARTING)
            if fields.items() <= message.items():
                return message

    def close(self) -> None:
        with self._server:
            self._in.close()
            try:
                self._server.wait(ENDING)
            except subprocess.TimeoutExpired:
                self._server.kill()
            self._listening.join(ENDING)


@pytest.fixture(params=["MCPServer", "FastMCP"])
def forger(request: pytest.FixtureRequest, errands: Errands) -> Generator[Forger]:
    forger = Forger(command(request.param, errands.folder))
    yield forger
    forger.close()


def delete(forger: Forger, file: Path, id: int, **more: Any) -> Any:
    """Call the tool; gives the id of the server's question."""
    params = {"name": "delete", "arguments": {"path": file.name}, **more}
    forger.say(id=id, method="tools/call", params=params)
    asked = forger.hear(method="elicitation/create")
    assert asked["params"]["message"] == f"Delete {file.name}?"
    return asked["id"]


@pytest.mark.verifies("R16")
def test_an_answer_that_nobody_asked_for_approves_nothing(forger: Forger, errands: Errands):
    file = errands.add("old.txt")
    guesses = [0, 1, 2, 3, "0", "1"]
    for guess in guesses:
        forger.say(id=guess, result=YES)
    brought = {"inputResponses": dict.fromkeys(["guard-delete", "ask-1", "yes"], YES)}
    question = delete(forger, file, 7, **brought)
    others = [guess for guess in guesses if str(guess) != str(question)]  # the SDK takes "1" for 1
    for guess in [*others, f"{question}x", None]:
        forger.say(id=guess, result=YES)
    forger.say(id=8, method="ping")
    forger.hear(id=8, result={})
    assert file.exists(), "the question is still open"
    forger.say(id=question, result={"action": "decline"})
    forger.say(id=question, result=YES)
    end = forger.hear(id=7)
    assert end["result"]["isError"] and "the person said no" in end["result"]["content"][0]["text"]
    other = delete(forger, file, 9)
    assert other != question
    forger.say(id=question, result=YES)
    forger.say(id=10, method="ping")
    forger.hear(id=10, result={})
    assert file.exists(), "an answer to the question before is none to this one"
    forger.say(id=other, result=YES)
    assert not forger.hear(id=9)["result"]["isError"] and not file.exists()
