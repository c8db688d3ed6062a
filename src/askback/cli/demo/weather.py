"""The weather server of the demo: it needs a key of yours, which you type on a page."""

import html
import re
import time
from collections.abc import Mapping
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.server import MCPServer
from pydantic_core import to_json

from askback import Askback, secret
from askback.cli.console import Printer
from askback.cli.demo.transcript import DemoAnswers, print_runs, print_verdict
from askback.protocol.revisions import REVISIONS
from askback.stores import MemoryStore
from askback.testing import Asked, Run, run_tool
from askback.testing.script import Accept, Reply
from askback.vault import SecretField
from askback.vault.keyring import KEY_BYTES, KeyRing
from askback.vault.vault import Vault

KEY = "sunshine"
"""The one key that the pretended weather service knows; type another to see it refused."""

FIELDS = {
    "key": SecretField(label="API key", hint=f"This weather service is pretended. It takes the key: {KEY}")
}
SKIES = ["sun all day", "clouds, and some sun", "rain until noon", "wind from the sea"]


LINKS: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What a client declares that can show links."""

_TOKEN = re.compile(r'name="token" value="([^"]*)"')
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


def make_server() -> MCPServer[Any]:
    """A weather server whose vault is in memory, encrypted, and gone with the demo."""
    mcp: MCPServer[Any] = MCPServer("weather")
    Askback(mcp, vault=Vault(MemoryStore(clock=time.time), KeyRing([token_bytes(KEY_BYTES)])))

    @mcp.tool()
    async def forecast(city: str) -> str:
        """Tomorrow's weather; you are asked for your key to the weather service, once."""
        while True:
            answer = await secret("The weather service asks for your key.", "weather key", fields=FIELDS)
            key = answer.or_stop("No forecast without a key.")
            if key.reveal() == KEY:
                return f"{city} tomorrow: {SKIES[len(city) % len(SKIES)]}"
            await key.reject("The weather service does not know it.")

    return mcp


async def play(printer: Printer, answers: DemoAnswers) -> bool:
    """Ask for the forecast on each revision that knows links; whether the key stayed off the wire."""
    headings: list[str] = []
    runs = {
        version: await _run(version, answers.link, headings)
        for version, revision in REVISIONS.items()
        if revision.visits
    }
    print_runs(printer, "A key that neither client nor model sees", runs)
    messages = [to_json(line.body).decode() for run in runs.values() for line in run.transcript]
    if headings:
        opened, done = headings
        printer.print(f"Meanwhile in the browser: {opened}. Typed: {'•' * len(KEY)}. {done}.")
    if any(KEY in message for message in messages):
        printer.print("The key is on the wire.", "bold")
        return False
    is_same = print_verdict(printer, runs.values())
    if headings:
        printer.print(f"The key is in none of the {len(messages)} messages.", "good")
    return is_same


async def _run(version: str, reply: Reply, headings: list[str]) -> Run:
    runs: list[Run] = []
    async with anyio.create_task_group() as browser:

        def answer(asked: Asked) -> Reply:
            if isinstance(reply, Accept):
                browser.start_soon(_type_key, asked.url, headings)
            return reply

        options: dict[str, Any] = {"revision": version, "capabilities": LINKS, "always_replay": False}
        runs.append(await run_tool(make_server(), "forecast", {"city": "Delft"}, answer, **options))
    return runs[0]


async def _type_key(link: str, headings: list[str]) -> None:
    """Do what a browser and the person before it do; `headings` become those of the two pages."""
    parts = urlsplit(link)
    as_browser = {"accept": "text/html", "origin": f"{parts.scheme}://{parts.netloc}"}
    async with httpx2.AsyncClient(follow_redirects=True, headers=as_browser, trust_env=False) as browser:
        form = (await browser.get(link)).raise_for_status().text
        fields = {"token": _find(_TOKEN, form), "answer": "yes", "field-key": KEY}
        done = (await browser.post(link, data=fields)).raise_for_status().text
    headings[:] = [_find(_HEADING, form), _find(_HEADING, done)]


def _find(pattern: re.Pattern[str], page: str) -> str:
    found = pattern.search(page)
    return "" if found is None else html.unescape(re.sub(r"<[^>]*>", "", found[1]))
