"""Writes docs/reference/wire/: what goes over the wire, from real calls of the examples.

python -m scripts.wire
"""

import json
import re
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_bytes
from typing import Any, cast

import anyio
import anyio.lowlevel
from mcp.shared.exceptions import MCPError

from askback.server.hosts import lowlevel_of
from askback.stores import MemoryStore
from askback.testing import REVISIONS, Asked, Run, Script, accept, cancel, decline, run_tool, silence
from askback.testing.run import TranscriptLine, Wire, connect
from askback.testing.script import Reply
from askback.vault.keyring import KeyRing
from askback.vault.vault import Vault
from examples.nobody.server import mcp as print_shop
from examples.pizzeria.server import mcp as pizzeria
from examples.pizzeria.server import orders
from examples.questions.server import mcp as desk
from examples.secrets import visits
from examples.secrets.server import make_server as make_reading_room
from examples.several.server import mcp as travel
from tests.support.visitor import visitor

PLACE = Path(__file__).parent.parent / "docs" / "reference" / "wire"

SEALED = "v1.…"
"""Stands for the sealed state, which is another one on every run."""

ID, PORT, LAUNCH = "mJ4…", "43210", "Vw8…"
"""Stand for the id of a visit, and for the port and the path of a page on this machine, which are others on every run.
"""

LINKS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a client declares that shows links too."""

SIGN: dict[str, Any] = {"name": "sign", "arguments": {"title": "the lease"}}
SIGNED = {"signed_on": "2026-07-28"}


async def excerpts() -> dict[str, str]:
    """Every file by its name, as it should be."""
    written: dict[str, Any] = {}
    for revision in REVISIONS:
        orders.clear()
        order = [accept(drink="cola"), accept(yes=True)]
        run = await run_tool(pizzeria, "order", {"pizza": "Margherita"}, order, revision=revision)
        written[f"order-{revision}"] = list(_messages(run))
        form = await run_tool(desk, "register", None, [decline()], revision=revision)
        written[f"form-{revision}"] = form.asked[0].schema
    again = await run_tool(desk, "seats", None, [accept(9), cancel()], revision="2025-11-25")
    written["asked-again"] = {"message": again.asked[1].message, "requestedSchema": again.asked[1].schema}
    together = await run_tool(travel, "plan", None, [cancel(), cancel()])
    written["together"] = next(message for message in _messages(together) if "result" in message)
    late = await run_tool(print_shop, "hold_press", None, [silence()], revision="2025-11-25")
    written["withdrawn"] = next(
        message for message in _messages(late) if message.get("method") == "notifications/cancelled"
    )
    written["cannot-ask-2025"] = await _refused("2025-11-25")
    written["cannot-ask-2026"] = await _refused("2026-07-28")
    written["visit-2025-11-25"] = await _signed()
    written["visit-2026-07-28"] = await _signed_in_rounds()
    written["visit-demanded"] = await _signed_after_demand()
    for revision in ("2025-11-25", "2026-07-28"):
        written[f"secret-{revision}"] = await _typed(revision)
    return {f"{name}.json": _text(content) for name, content in written.items()}


async def _refused(revision: str) -> Any:
    """How a client without forms is answered."""
    try:
        run = await run_tool(print_shop, "ask_plainly", revision=revision, capabilities={})
    except MCPError as error:
        return {"error": error.error.model_dump(exclude_none=True)}
    return {"result": run.result}


async def _signed() -> list[dict[str, Any]]:
    """A visit that ends while the call is open."""
    server, asked = visits.make_server()

    async def settle(url: str) -> None:
        await asked.settle(_id_in(url), SIGNED)

    return await _visited(server, "sign", SIGN["arguments"], "2025-11-25", settle)


async def _visited(
    server: Any,
    tool: str,
    arguments: dict[str, Any],
    revision: str,
    go: Callable[[str], Coroutine[Any, Any, None]],
) -> list[dict[str, Any]]:
    """A call whose person agrees, and goes."""
    runs: list[Run] = []
    async with anyio.create_task_group() as tasks:

        def agree(shown: Asked) -> Reply:
            tasks.start_soon(go, shown.url)
            return accept()

        call = (server, tool, arguments, agree)
        runs.append(await run_tool(*call, revision=revision, always_replay=False, capabilities=LINKS))
    return list(_messages(runs[0]))


async def _signed_in_rounds() -> Any:
    """The person is not done when the server has held the first round; before the next they are."""
    server, asked = visits.make_server(hold=0.001)
    wire = Wire(version="2026-07-28", capabilities=LINKS, script=Script())
    call = {**SIGN, "_meta": wire.envelope()}
    async with connect(lowlevel_of(server), wire):
        put = await wire.send("tools/call", call)
        ((key, request),) = put["inputRequests"].items()
        agreed = {"inputResponses": {key: {"action": "accept"}}, "requestState": put["requestState"]}
        waiting = await wire.send("tools/call", {**call, **agreed})
        await asked.settle(_id_in(request["params"]["url"]), SIGNED)
        await wire.send("tools/call", {**call, "requestState": waiting["requestState"]})
    return [_message(line) for line in wire.transcript]


async def _signed_after_demand() -> Any:
    """Without a way back to the client."""
    server, asked = visits.make_server(demand_visits=True)
    wire = Wire(version="2025-11-25", capabilities=LINKS, script=Script())
    async with connect(lowlevel_of(server), wire):
        with suppress(MCPError):
            await wire.send("tools/call", SIGN)
        (demanded,) = wire.transcript[-1].body["data"]["elicitations"]
        await asked.settle(demanded["elicitationId"], SIGNED)
        await _told(wire)
        await wire.send("tools/call", SIGN)
    return list(_from_the_call(wire.transcript))


async def _told(wire: Wire) -> None:
    """The client has heard that its visit is over."""
    with anyio.fail_after(5):
        while not wire.transcript[-1].what.startswith("notifications/"):
            await anyio.lowlevel.checkpoint()


async def _typed(revision: str) -> list[dict[str, Any]]:
    """A secret: what is typed is not among these messages."""
    vault = Vault(MemoryStore(clock=time.time), KeyRing([token_bytes(32)]), clock=time.time)
    return await _visited(make_reading_room(vault=vault), "define", {"word": "owl"}, revision, _type)


async def _type(url: str) -> None:
    async with visitor() as browser:
        await browser.give(url, "a-right-key")


def _id_in(url: str) -> str:
    return url.partition("=")[2]


def _messages(run: Run) -> Iterator[dict[str, Any]]:
    return _from_the_call(run.transcript)


def _from_the_call(transcript: Sequence[TranscriptLine]) -> Iterator[dict[str, Any]]:
    """The call itself: the handshake before it is the SDK's."""
    call = next(place for place, line in enumerate(transcript) if line.what == "tools/call")
    return (_message(line) for line in transcript[call:])


def _message(line: TranscriptLine) -> dict[str, Any]:
    """As JSON-RPC has it, without its version and ids."""
    sender = {"from": "client" if line.direction == "->" else "server"}
    match line.what:
        case "result" | "answer":
            return {**sender, "result": line.body}
        case "error":
            return {**sender, "error": line.body}
        case method:
            return {**sender, "method": method, "params": line.body}


def _text(content: Any) -> str:
    return json.dumps(_tidied(content), indent=2, ensure_ascii=False) + "\n"


def _tidied(content: Any) -> Any:
    """Without what differs from run to run, and without an empty `_meta`, which some versions of the SDK add."""
    if isinstance(content, Mapping):
        members = cast("Mapping[str, Any]", content).items()
        return {
            name: _tidied_member(name, value) for name, value in members if (name, value) != ("_meta", {})
        }
    if isinstance(content, list):
        return [_tidied(one) for one in cast("list[Any]", content)]
    return _without_chance(content) if isinstance(content, str) else content


def _without_chance(text: str) -> str:
    launched = re.sub(r"(?<=/askback/)[\w-]{22}(?=/)", LAUNCH, re.sub(r"[\w-]{43}", ID, text))
    return re.sub(r"(?<=127\.0\.0\.1:)\d+", PORT, launched)


def _tidied_member(name: str, value: Any) -> Any:
    return SEALED if name == "requestState" else _tidied(value)


if __name__ == "__main__":
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, text in anyio.run(excerpts).items():
        (PLACE / name).write_text(text)
        print(PLACE.name, name)
