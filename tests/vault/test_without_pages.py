"""Where the pages extra is not installed: everything else works, and what needs it says how to get it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PAGES = ["authlib", "itsdangerous", "jinja2", "joserfc"]
"""What the extra brings and nothing else does."""

WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({PAGES!r}))

import anyio
from mcp.server import MCPServer
from askback import Askback, ask, connect, secret
from askback.oauth import Provider
from askback.pages import Pages
from askback.testing import accept, run_tool

mcp = MCPServer("test")
Askback(mcp, providers=[Provider(name="library", client_id="test", issuer="https://library.example")])

@mcp.tool()
async def asks() -> str:
    return (await ask("Your name?", str)).or_stop("never")

@mcp.tool()
async def keeps() -> str:
    return repr(await secret("Your key.", "weather key"))

@mcp.tool()
async def connects() -> str:
    return repr(await connect("library", ["books"]))

def builds() -> None:
    Askback(MCPServer("test"), pages=Pages(url="https://tools.example", accept_anyone=True))

def told(name):
    answers = [accept(value="Ada")] if name == "asks" else []
    return anyio.run(lambda: run_tool(mcp, name, None, answers)).text

"""


def said_of(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, timeout=40, check=False
    )


def test_a_server_can_be_made_and_asks_forms():
    said = said_of("print(told('asks'))")
    assert said.stdout == "Ada\n", said.stderr


@pytest.mark.parametrize("tool", ["keeps", "connects"])
def test_what_needs_a_page_says_what_to_install(tool: str):
    said = said_of(f"print(told({tool!r}))")
    assert "need the pages extra (" in said.stdout and 'pip install "askback[pages]"' in said.stdout


def test_pages_with_an_address_say_it_when_the_server_is_made():
    said = said_of("builds()")
    assert said.returncode == 1
    assert "OperatorError: secret(...), connect(...) and their pages need the pages extra (" in said.stderr
