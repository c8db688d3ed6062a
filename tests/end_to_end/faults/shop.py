"""The flow that is disturbed: three questions, a visit, and an effect that must not happen twice."""

import os
from pathlib import Path
from typing import Any

from anyio.lowlevel import checkpoint
from mcp.server import MCPServer

from askback import Askback, ask, once, visit
from askback.stores import Store
from tests.end_to_end.faults.points import Fuse

KEYS = ["the same in all workers, 32 bytes and more"]
HOUR = 3600.0

SIZE, TOPPING, PAY, STARS = "Which size?", "Which topping?", "Pay for it.", "How many stars?"
"""What the person is asked, in this order; the effect is between the last two."""

ANSWERS: dict[str, Any] = {SIZE: 32, TOPPING: "olives", STARS: 5}

RESULT = "olives 32 is ordered, paid with a card, 5 stars"


class Oven:
    """Where the effect leaves its traces, one line for each time it happens; a file for each order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put_in(self, number: str) -> None:
        file = os.open(self._folder / number, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        os.write(file, b"baked\n")
        os.close(file)

    def times(self, number: str) -> int:
        traces = self._folder / number
        return traces.read_text().count("baked") if traces.exists() else 0


def shop(store: Store, fuse: Fuse, oven: Oven) -> MCPServer[Any]:
    """A worker of the shop. All workers have the same keys and the same store."""
    server: MCPServer[Any] = MCPServer("shop")
    asked = Askback(server, keys=KEYS, store=store, hold=HOUR)

    async def bake(number: str, what: str) -> str:
        fuse.pass_by("the effect itself", "before")
        oven.put_in(number)
        await checkpoint()
        fuse.pass_by("the effect itself", "after")
        return f"{what} is ordered"

    # --8<-- [start:flow]
    @server.tool()
    async def order(number: str, retry: bool, within: bool) -> str:
        """The number tells this order from all others, as an order's number does."""
        size = (await ask(SIZE, int)).or_stop("No size.")
        topping = (await ask(TOPPING, str)).or_stop("No topping.")
        paid = (await visit(PAY, "https://pay.example/{id}")).or_stop("Not paid.")
        fuse.pass_by("`once` in the body", "before")
        if within:
            ordered = await once("bake", bake, number, f"{topping} {size}", within=HOUR, retry=retry)
        else:
            ordered = await once("bake", bake, number, f"{topping} {size}", retry=retry)
        fuse.pass_by("`once` in the body", "after")
        stars = (await ask(STARS, int)).or_stop("No stars.")
        return f"{ordered}, paid with a {paid}, {stars} stars"

    # --8<-- [end:flow]

    @server.tool()
    async def paid(id: str) -> bool:
        """What the page for payments calls when it is done, and again until it gets an answer."""
        return await asked.settle(id, "card")

    return server
