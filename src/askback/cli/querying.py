"""The demo's third story, as it plays itself: an agent queries a shop's database, and somebody decides on it."""

from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mcp.server import MCPServer

from askback.cli.printer import Printer
from askback.cli.shop import make_server
from askback.cli.shop_database import make_database, open_hardened
from askback.cli.wired import LEGEND, columns_of
from askback.testing import REVISIONS, Run, run_tool
from askback.testing.replies import Reply

TAGS = Path(__file__).with_name("shop.toml")

FEW = 3
"""Rows of the choice to run it for fewer: what a reader of this demo wants to see of them."""

HARMLESS: Mapping[str, str] = {
    "statement": "SELECT product, count(*) AS orders FROM orders GROUP BY ALL ORDER BY ALL"
}
PERSONAL: Mapping[str, str] = {"statement": "SELECT name, email FROM customers ORDER BY id"}


@contextmanager
def shop() -> Generator[MCPServer[Any]]:
    """The server over a million orders, made for this and gone with it."""
    with TemporaryDirectory(prefix="askback-demo-") as folder:
        database = make_database(Path(folder) / "shop.duckdb")
        with closing(open_hardened(database)) as connection:
            yield make_server(connection, TAGS, most_rows=FEW)


async def tell(paper: Printer, reply: Reply) -> int:
    """Play it on each revision, somebody answering with `reply`; 0 if the one was asked about and the other was not."""
    paper.print("A query that somebody must agree to", "bold")
    paper.print(LEGEND, "dim")
    paper.print()
    with shop() as server:
        harmless = await _run(server, HARMLESS, REVISIONS[-1], [])
        runs = {revision: await _run(server, PERSONAL, revision, [reply]) for revision in REVISIONS}
    paper.columns(columns_of(runs))
    return _verdict(paper, harmless, list(runs.values()))


async def _run(
    server: MCPServer[Any], arguments: Mapping[str, str], revision: str, replies: list[Reply]
) -> Run:
    return await run_tool(server, "query", arguments, replies, revision=revision, always_replay=False)


def _verdict(paper: Printer, harmless: Run, runs: list[Run]) -> int:
    texts = {run.text for run in runs}
    if harmless.asked or len(texts) != 1 or any(len(run.asked) != 1 for run in runs):
        paper.print(f"The results differ, or were not asked about: {' '.join(texts)}", "bold")
        return 1
    paper.print(f"Nobody was asked about this one, which counts orders: {HARMLESS['statement']}")
    paper.print(f"The same result on all three: {first_line(texts.pop())}", "good")
    return 0


def first_line(text: str) -> str:
    """Of a table its head, and how many rows there are below."""
    first, *rest = text.splitlines()
    return f"{first}, and {len(rest)} rows" if rest else first
