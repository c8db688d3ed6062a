"""Writes docs/reference/wire/: what goes over the wire, from real calls of the examples.

python -m scripts.wire
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import anyio
from mcp.shared.exceptions import MCPError

from askback.testing import REVISIONS, Run, accept, cancel, decline, run_tool, silence
from askback.testing.wire import Line
from examples.nobody.server import mcp as print_shop
from examples.pizzeria.server import mcp as pizzeria
from examples.pizzeria.server import orders
from examples.questions.server import mcp as desk
from examples.several.server import mcp as travel

PLACE = Path(__file__).parent.parent / "docs" / "reference" / "wire"

SEALED = "v1.…"
"""Stands for the sealed state, which is another one on every run."""


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
    return {f"{name}.json": _text(content) for name, content in written.items()}


async def _refused(revision: str) -> Any:
    """How a client without forms is answered."""
    try:
        run = await run_tool(print_shop, "ask_plainly", revision=revision, capabilities={})
    except MCPError as error:
        return {"error": error.error.model_dump(exclude_none=True)}
    return {"result": run.result}


def _messages(run: Run) -> Iterator[dict[str, Any]]:
    """The call itself: the handshake before it is the SDK's."""
    call = next(place for place, line in enumerate(run.transcript) if line.what == "tools/call")
    return (_message(line) for line in run.transcript[call:])


def _message(line: Line) -> dict[str, Any]:
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
    return [_tidied(one) for one in cast("list[Any]", content)] if isinstance(content, list) else content


def _tidied_member(name: str, value: Any) -> Any:
    return SEALED if name == "requestState" else _tidied(value)


if __name__ == "__main__":
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, text in anyio.run(excerpts).items():
        (PLACE / name).write_text(text)
        print(PLACE.name, name)
