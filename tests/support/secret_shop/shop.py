"""A shop that asks for a key and a payment: `python -m tests.support.secret_shop.shop '{"host": "FastMCP", …}'`.

It says on its standard output when it listens, logs everything there is to log, and leaks what it got where it is told.
"""

import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from fastmcp import FastMCP
from mcp.server import MCPServer

from askback import Accepted, Askback, secret, visit
from askback.pages import Pages
from askback.stores import SQLiteStore
from tests.support.secret_shop.leaks import leak_on_pages
from tests.support.secret_shop.uses import Uses

KEYS = ["the same before and after a restart, of 32 bytes and more"]

UP = b"up\n"
"""What it says when it listens."""

logger = logging.getLogger("shop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How the shop is run; what is in the folder outlives it."""

    folder: str
    host: str = "MCPServer"
    port: int | None = None
    """None for stdio."""
    local_port: int = 0
    """Of the pages on this machine, for stdio."""
    hold: float = 25.0
    lease: float = 1.0
    """Seconds after which a shop that was killed is known to be dead."""
    demand_visits: bool = False
    leak: str = ""
    """A place on the pages where what was typed is shown."""

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.support.secret_shop.shop", json.dumps(asdict(self))]

    @property
    def store(self) -> Path:
        return Path(self.folder) / "shop.db"

    @property
    def runs(self) -> Path:
        """Where each run of a body that waits for a payment leaves a line."""
        return Path(self.folder) / "runs"

    @property
    def pid(self) -> Path:
        """Where it writes its process id, for a test to end it by."""
        return Path(self.folder) / "pid"


def _ada(_: object) -> str:
    """Over HTTP, where nothing else tells who calls."""
    return "ada"


def open_shop(plan: Plan) -> tuple[MCPServer[Any] | FastMCP[Any], Askback]:
    mcp = FastMCP[Any]("shop") if plan.host == "FastMCP" else MCPServer[Any]("shop", log_level="DEBUG")
    url = None if plan.port is None else f"http://127.0.0.1:{plan.port}"
    asked = Askback(
        mcp,
        keys=KEYS,
        store=SQLiteStore(plan.store, lease=plan.lease),
        hold=plan.hold,
        demand_visits=plan.demand_visits,
        caller=None if url is None else _ada,
        pages=Pages(url=url, accept_anyone=True, port=plan.local_port),
    )
    uses = Uses(asked.store)

    async def use(how: str) -> Any:
        """Ask for the key and use it."""
        match await secret("Your key for the weather service.", "weather key"):
            case Accepted(key) as answer:
                logger.debug("use %s with %s, %r, %r", how, key, key, answer)
                return await uses.by_name(how)(key)
            case answer:
                return type(answer).__name__

    async def pay() -> str:
        with plan.runs.open("a") as runs:
            runs.write("pay\n")
        answer = await visit("Pay for the forecast.", "https://pay.example/checkout/{id}")
        return f"Paid: {answer.or_stop('Not paid.')}"

    add: Callable[..., Any] = mcp.add_tool if isinstance(mcp, MCPServer) else mcp.tool
    add(use, structured_output=False) if isinstance(mcp, MCPServer) else add(use, output_schema=None)
    add(pay)
    return mcp, asked


class _Saying(uvicorn.Server):
    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        sys.stdout.buffer.write(UP)
        sys.stdout.flush()


async def _serve(app: Any, port: int) -> None:
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="debug", log_config=None)
    await _Saying(config).serve()


def main() -> None:
    plan = Plan(**json.loads(sys.argv[1]))
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")
    leak_on_pages(plan.leak)
    plan.pid.write_text(str(os.getpid()))
    mcp, _ = open_shop(plan)
    if plan.port is None:
        return mcp.run("stdio") if isinstance(mcp, MCPServer) else mcp.run("stdio", show_banner=False)
    app = mcp.streamable_http_app() if isinstance(mcp, MCPServer) else mcp.http_app()
    anyio.run(_serve, app, plan.port)
    return None


if __name__ == "__main__":
    main()
