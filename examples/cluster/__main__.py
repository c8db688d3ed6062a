"""Three workers behind nginx, with Redis between them; one is killed while somebody thinks, and nothing is lost.

python -m examples.cluster
"""

import os
import subprocess
import sys
from pathlib import Path
from secrets import token_hex
from typing import Any

import anyio

from askback import Accepted, Answer
from askback.client import Driver, FormAsked, Mode, Turn, VisitAsked, VisitReply
from askback.testing import REVISIONS
from examples.cluster.workers import Worker, workers
from scripts.services import Missing, nginx, redis_server

RECIPE = Path(__file__).with_name("nginx.conf")

ANSWERS = {"From which account?": {"account": "savings"}}
YES = {"yes": True}


class Customer:
    """Answers by themselves, and says what they are asked; what happens while they think, happens then."""

    modes: frozenset[Mode] = frozenset({"form"})
    shows_several = False

    def __init__(self, doomed: Worker | None) -> None:
        self._doomed = doomed

    async def answer(self, turn: Turn) -> Answer[Any]:
        assert isinstance(turn.asked, FormAsked)
        said = ANSWERS.get(turn.asked.message, YES)
        print(f"  {turn.asked.message}  {', '.join(map(str, said.values()))}")
        if self._doomed:
            self._doomed.kill()
            print(f"  (the worker on port {self._doomed.port} is killed)")
            self._doomed = None
        return Accepted(said)

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        return "cancel"


async def pay(url: str, revision: str, doomed: Worker | None) -> None:
    """One call through nginx, whose requests go to the workers in turn."""
    print(f"\n{revision}")
    async with Driver(f"{url}/mcp", Customer(doomed), revision=revision) as driver:
        result = await driver.call_tool("transfer", {"amount": 20, "to": "Ada"})
        print(f"  {result.structured_content and result.structured_content['result']}")


def show_ledger(settings: dict[str, str]) -> None:
    """What an operator would look at afterwards."""
    askback = [sys.executable, "-m", "askback.cli", "ledger"]
    environment = os.environ | {
        "ASKBACK_STORE": settings["BANK_STORE"],
        "ASKBACK_LEDGER_KEYS": settings["BANK_KEYS"],
    }
    for words in (["tail", "-n", "12"], ["verify"]):
        print(f"\n$ askback ledger {' '.join(words)}", flush=True)
        subprocess.run([*askback, *words], env=environment, check=True)


def main() -> None:
    try:
        with redis_server() as redis:
            settings = {"BANK_KEYS": token_hex(32), "BANK_STORE": redis.url}
            with (
                workers(3, settings) as them,
                nginx([f"127.0.0.1:{worker.port}" for worker in them], recipe=RECIPE) as proxy,
            ):
                ports = ", ".join(str(worker.port) for worker in them)
                print(f"Redis on port {redis.port}, workers on {ports}, nginx before them at {proxy.url}")
                for revision in REVISIONS:
                    anyio.run(pay, proxy.url, revision, None)
                print("\nOnce more, and a worker dies while the customer thinks:")
                anyio.run(pay, proxy.url, REVISIONS[-1], them[0])
                show_ledger(settings)
    except Missing as missing:
        raise SystemExit(str(missing)) from None


if __name__ == "__main__":
    main()
