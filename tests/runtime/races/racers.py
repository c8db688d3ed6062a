"""Fifty workers that do the same at the same moment: `python -m tests.runtime.races.racers RACE STORE SETTINGS`.

They are forked from a warm process, each with a server and a connection to the store of its own, and begin when all of
them stand ready. What comes out is one line of JSON: what each of them saw.
"""

import gc
import json
import logging
import os
import sys
import warnings
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer

from askback import Accepted, Askback, ask, connect, once, visit
from askback.oauth import Provider
from askback.stores import MemoryStore, Store
from askback.vault.keyring import KeyRing
from askback.vault.vault import Vault
from tests.end_to_end.faults.forks import run_all
from tests.support.deliveries import End, end_of, text_of
from tests.support.raw import accepting, answering, raw_client
from tests.support.stores.url import opened
from tests.verbs.connect.office import NAME, Clock

FIFTY = 50

KEYS = ["the same in all workers, 32 bytes and more"]

CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}

SECONDS = 40.0
"""For a race with all its preparations, on a machine that is busy."""

LEASE = 15.0
"""Nobody dies here."""

Settings = Mapping[str, Any]


class Worker:
    """One server, as all fifty have it."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.server: MCPServer[Any] = MCPServer("office")
        for tool in (order, pay, fetch):
            self.server.add_tool(partial_of(tool, settings), name=tool.__name__)
        issuer, client_id = settings.get("issuer"), settings.get("client_id")
        clock = Clock(settings.get("ahead", 0.0))
        self.asked = Askback(
            self.server,
            keys=KEYS,
            store=store,
            vault=Vault(store, KeyRing([b"k" * 32]), clock=clock),
            providers=[Provider(name=NAME, client_id=client_id, issuer=issuer)]
            if issuer and client_id
            else [],
            clock=clock,
        )

    async def call(self, tool: str, **fields: Any) -> End:
        async with raw_client(self.server) as client:
            return await end_of(client.call(tool, capabilities=CAPABILITIES, **fields))


def partial_of(
    tool: Callable[[Settings], Awaitable[str]], settings: Settings
) -> Callable[[], Awaitable[str]]:
    async def called() -> str:
        return await tool(settings)

    return called


async def order(settings: Settings) -> str:
    """One question, and an effect that must not happen twice."""
    count = (await ask("How many?", int)).or_stop("None.")
    return await once("bake", bake, Path(settings["traces"]), count)


async def pay(_settings: Settings) -> str:
    paid = (await visit("Pay for it.", "https://pay.example/{id}")).or_stop("Not paid.")
    return f"paid with {paid}"


async def fetch(settings: Settings) -> str:
    """Shows whether all have the same token, and never the token."""
    match await connect(NAME, settings["scopes"]):
        case Accepted(token):
            return sha256(token.reveal().encode()).hexdigest()
        case other:
            return type(other).__name__


def bake(traces: Path, count: int) -> str:
    with traces.open("a") as file:
        file.write(f"{os.getpid()}\n")
    return f"{count} baked by {os.getpid()}"


class Gate:
    """Opens for all at once, when all stand before it."""

    def __init__(self) -> None:
        self._ready, self._report = os.pipe()
        self._opened, self._open = os.pipe()

    async def stand(self) -> None:
        os.write(self._report, b".")
        await anyio.wait_readable(self._opened)

    def open_for(self, count: int) -> None:
        while count:
            count -= len(os.read(self._ready, count))
        os.write(self._open, b"!")


Race = Callable[[Worker, int, End], Awaitable[Any]]
"""What one of them does, with its number and with what the first call gave; and what it saw."""


async def redeem_alike(worker: Worker, number: int, first: End) -> End:
    return await worker.call("order", **answering(first, ask_1=accepting(value=3)))


async def redeem_otherwise(worker: Worker, number: int, first: End) -> End:
    return await worker.call("order", **answering(first, ask_1=accepting(value=number)))


async def settle(worker: Worker, number: int, first: End) -> dict[str, Any]:
    """With something else each; and then the call goes on."""
    (key, request), *_ = first["inputRequests"].items()
    is_ours = await worker.asked.settle(request["params"]["url"].rpartition("/")[2], f"card {number}")
    end = await worker.call(
        "pay", inputResponses={key: {"action": "accept"}}, requestState=first["requestState"]
    )
    return {"number": number, "is ours": is_ours, "end": end}


async def refresh(worker: Worker, _number: int, _first: End) -> str:
    return text_of(await worker.call("fetch"))


RACES: dict[str, tuple[str, Race]] = {
    "redeem alike": ("order", redeem_alike),
    "redeem otherwise": ("order", redeem_otherwise),
    "settle": ("pay", settle),
    "refresh": ("", refresh),
}
"""The tool that is called first, by somebody else, and what all do then."""


def run(race: Race, url: str, settings: Settings, gate: Gate, first: End, number: int) -> Any:
    async def main() -> Any:
        with anyio.fail_after(SECONDS):
            worker = Worker(opened(url, lease=LEASE), settings)
            await worker.store.count()
            await gate.stand()
            return await race(worker, number, first)

    return anyio.run(main)


def begin(tool: str, url: str, settings: Settings) -> End:
    """The first call, in a process that is gone afterwards."""
    return anyio.run(Worker(opened(url, lease=LEASE), settings).call, tool)


def main(name: str, url: str, written: str) -> None:
    settings, (tool, race), gate = json.loads(written), RACES[name], Gate()
    logging.disable()
    warnings.simplefilter("ignore")
    for warm in ("order", "pay"):
        anyio.run(Worker(MemoryStore(), settings).call, warm)
    for late in ("askback.pages.app", "askback.oauth.connector", "askback.pages.loopback"):
        import_module(late)  # what a server loads when it is needed, and fifty at once would load fifty times
    opened(url, lease=LEASE)  # so that its driver is loaded
    gc.collect()
    gc.freeze()
    (first,) = run_all([partial(begin, tool, url, settings)]) if tool else [End()]
    racers = [partial(run, race, url, settings, gate, first, number) for number in range(FIFTY)]
    *seen, _ = run_all([*racers, partial(gate.open_for, FIFTY)], at_once=FIFTY + 1)
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
