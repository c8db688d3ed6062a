"""The demo's second story, as it plays itself: a weather server needs a key, and sends somebody to a page for it."""

import html
import re
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.server import MCPServer
from pydantic_core import to_json

from askback.cli.printer import Printer
from askback.cli.weather import make_server
from askback.cli.weather_service import HINT, KEY, make_service
from askback.cli.wired import LEGEND, columns_of
from askback.pages.loopback_server import LOOPBACK, bind_loopback, serve_app
from askback.protocol.revisions import REVISIONS
from askback.stores import MemoryStore
from askback.testing import Asked, Run, run_tool
from askback.testing.replies import Accept, Reply
from askback.vault.keyring import KEY_BYTES, KeyRing
from askback.vault.vault import Vault

CITY = {"city": "Delft"}

LINKS: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a client declares that can show links."""

_TOKEN = re.compile(r'name="token" value="([^"]*)"')
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


@asynccontextmanager
async def weather() -> AsyncGenerator[MCPServer[Any]]:
    """The server and its pretend service. What is typed is kept in memory, sealed, and gone with the demo."""
    vault = Vault(MemoryStore(clock=time.time), KeyRing([token_bytes(KEY_BYTES)]))
    with bind_loopback(0, who="The pretend weather service") as listener:
        service = f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        async with serve_app(make_service(), listener, before_end=lambda: None):
            yield make_server(service, hint=HINT, vault=vault)


async def tell(paper: Printer, reply: Reply) -> int:
    """Play it on each revision that knows links, somebody answering with `reply`; 0 if the key stayed off the wire."""
    paper.print("A key that neither client nor model sees", "bold")
    paper.print(LEGEND, "dim")
    paper.print()
    runs: dict[str, Run] = {}
    seen: list[str] = []
    for version in (version for version, revision in REVISIONS.items() if revision.visits):
        runs[version] = await _played(version, reply, seen)
    paper.columns(columns_of(runs))
    return _verdict(paper, list(runs.values()), seen)


async def _played(version: str, reply: Reply, seen: list[str]) -> Run:
    runs: list[Run] = []
    async with weather() as server, anyio.create_task_group() as browser:

        def answer(asked: Asked) -> Reply:
            if isinstance(reply, Accept):
                browser.start_soon(_go, asked.url, seen)
            return reply

        options: dict[str, Any] = {"revision": version, "capabilities": LINKS, "always_replay": False}
        runs.append(await run_tool(server, "forecast", CITY, answer, **options))
    return runs[0]


async def _go(link: str, seen: list[str]) -> None:
    """What a browser and the person before it do."""
    parts = urlsplit(link)
    as_browser = {"accept": "text/html", "origin": f"{parts.scheme}://{parts.netloc}"}
    async with httpx2.AsyncClient(follow_redirects=True, headers=as_browser, trust_env=False) as browser:
        page = (await browser.get(link)).raise_for_status().text
        typed = {"token": _found(_TOKEN, page), "answer": "yes", "field-key": KEY}
        after = (await browser.post(link, data=typed)).raise_for_status().text
    seen[:] = [_found(_HEADING, page), _found(_HEADING, after)]


def _found(pattern: re.Pattern[str], page: str) -> str:
    found = pattern.search(page)
    return "" if found is None else html.unescape(re.sub(r"<[^>]*>", "", found[1]))


def _verdict(paper: Printer, runs: list[Run], seen: list[str]) -> int:
    messages = [to_json(line.body).decode() for run in runs for line in run.transcript]
    if seen:
        opened, done = seen
        paper.print(f"Meanwhile in the browser: {opened}. Typed: {'•' * len(KEY)}. {done}.")
    texts = {run.text for run in runs}
    if len(texts) != 1 or any(KEY in message for message in messages):
        paper.print(f"The key is on the wire, or the results differ: {', '.join(texts)}", "bold")
        return 1
    paper.print(f"The same result on both: {texts.pop()}", "good")
    if seen:
        paper.print(f"The key is in none of the {len(messages)} messages.", "good")
    return 0
