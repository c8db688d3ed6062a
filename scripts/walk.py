"""Writes docs/explain/walk.md: the modules that a call goes through, in the order in which it first enters them.

python -m scripts.walk
"""

import ast
import json
import re
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import anyio
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.server import MCPServer
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

import askback
from askback import Accepted, Askback, ask, guard, secret
from askback.stores import MemoryStore
from askback.vault import Vault
from askback.vault.keyring import KeyRing
from bench.order import ANSWER, Extras
from tests.support.visitor import visitor

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explain" / "walk.md"
PACKAGE = f"{Path(askback.__file__).parent}/"

ROUNDS, PUSH = "2026-07-28", "2025-11-25"

PATIENCE = 30.0
"""Seconds for one flow."""

HEAD = """# A question through the code

<!-- This page is written by `make walk`. -->

The modules of Askback that one call goes through, in the order in which it first enters them: read them in this order.
The call is traced in a process that has served the same call before, so types are rendered and caches are filled. What
the MCP SDK does between two of our modules is left out, and so is what runs in a worker thread.

A *hop* is a call of a function of ours whose nearest caller in the package is in another module. Going on after an
`await` is no hop.
"""


class Walk(NamedTuple):
    """What one call went through."""

    title: str
    modules: list[str]
    hops: int


class Tracer:
    """Notes each call of a function of the package while it is switched on."""

    def __init__(self) -> None:
        self.modules: dict[str, None] = {}
        self.hops = 0
        self._frames: set[FrameType] = set()

    @contextmanager
    def tracing(self) -> Generator[None]:
        sys.setprofile(self._on_event)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _on_event(self, frame: FrameType, event: str, argument: object) -> None:
        module = _module_of(frame)
        if event != "call" or module is None or frame in self._frames:
            return
        self._frames.add(frame)  # a coroutine that goes on is the same frame again
        self.modules[module] = None
        caller = frame.f_back
        while caller is not None and _module_of(caller) is None:
            caller = caller.f_back
        if caller is not None and _module_of(caller) != module:
            self.hops += 1


def _module_of(frame: FrameType) -> str | None:
    path = frame.f_code.co_filename
    if path.startswith(PACKAGE) and path.endswith(".py"):  # a template of a page is code too
        return path.removeprefix(PACKAGE)
    return None


async def order(guest: str) -> str:
    match await ask(f"Anything with your pizza, {guest}?", Extras):
        case Accepted(extras):
            return extras.drink
        case _:
            return "nothing"


async def forecast(city: str) -> str:
    match await secret("The key of the weather service", f"weather key for {city}"):
        case Accepted(key):
            return f"{len(key.reveal())} characters"
        case _:
            return "no key"


async def send(to: str) -> str:
    return f"sent to {to}"


def guarded() -> Callable[..., Awaitable[str]]:
    """Made late: where no guard exists, no call looks for one."""
    return guard("Send the bill to {to}?")(send)


def make_server(body: Callable[..., Awaitable[str]]) -> MCPServer[Any]:
    server = MCPServer[Any]("walk", log_level="ERROR")
    Askback(server, vault=Vault(MemoryStore(), KeyRing([bytes(32)])))
    server.tool()(body)
    return server


async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """A person who fills in every form and types every secret at once."""
    if isinstance(params, ElicitRequestURLParams):
        async with visitor() as browser:
            await browser.give(params.url, "a key")
        return ElicitResult(action="accept")
    fields = params.requested_schema["properties"]
    content = {name: value for name, value in ANSWER.items() if name in fields}
    return ElicitResult(action="accept", content=content or dict.fromkeys(fields, True))


class Flow(NamedTuple):
    """A call that is traced: its tool, and an argument with its values, those of the warm calls and then its own."""

    title: str
    revision: str
    make_body: Callable[[], Callable[..., Awaitable[str]]]
    argument: str
    values: list[str]


FLOWS = (
    Flow(f"`ask()` on {ROUNDS}", ROUNDS, lambda: order, "guest", ["Ada"] * 4),
    Flow(f"`ask()` on {PUSH}", PUSH, lambda: order, "guest", ["Ada"] * 4),
    # Each city has a key of its own, so that every call asks for one.
    Flow(f"`secret()` on {ROUNDS}", ROUNDS, lambda: forecast, "city", ["Bonn", "Kiel", "Ulm", "Wien"]),
    Flow(f"A guarded call on {ROUNDS}", ROUNDS, guarded, "to", ["ada@example.org"] * 4),
)


async def walk(flow: Flow) -> Walk:
    """Trace the last of the calls."""
    body, tracer = flow.make_body(), Tracer()
    mode = "legacy" if flow.revision == PUSH else flow.revision
    with anyio.fail_after(PATIENCE):
        async with Client(make_server(body), mode=mode, elicitation_callback=answer) as client:
            for value in flow.values[:-1]:
                await client.call_tool(body.__name__, {flow.argument: value})
            with tracer.tracing():
                result = await client.call_tool(body.__name__, {flow.argument: flow.values[-1]})
    assert not result.is_error, result
    return Walk(flow.title, list(tracer.modules), tracer.hops)


def walks() -> list[Walk]:
    return [anyio.run(walk, flow) for flow in FLOWS]


def page(found: list[Walk]) -> str:
    return HEAD + "".join(map(_section, found))


def _section(found: Walk) -> str:
    rows = [f"| {number} | `{name}` | {_purpose(name)} |\n" for number, name in enumerate(found.modules, 1)]
    return f"\n## {found.title}\n\n{len(rows)} modules.\n\n| | module | what it is |\n|---|---|---|\n{''.join(rows)}"


def _purpose(name: str) -> str:
    """The first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(Path(PACKAGE, name).read_text())) or ""
    first = re.split(r"(?<=[.?!])\s+(?=[A-Z`])", " ".join(text.split()))[0]
    return first.replace("|", r"\|")


def main() -> None:
    """`--json` prints what was found and writes nothing."""
    found = walks()
    if sys.argv[1:] == ["--json"]:
        print(json.dumps(found))
        return
    PAGE.write_text(page(found))
    for one in found:
        print(f"{one.title}: {len(one.modules)} modules, {one.hops} hops")


if __name__ == "__main__":
    main()
