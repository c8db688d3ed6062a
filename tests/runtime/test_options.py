"""Options of `Askback(server, ...)` that cannot be meant: each is refused at once, with what to write instead."""

from typing import Any

import pytest
from mcp.server import MCPServer

from askback import Askback, connect, disconnect
from askback.errors import AuthorError
from askback.oauth import Provider
from askback.testing import run_tool

CALENDAR = Provider(name="calendar", issuer="https://calendar.example", client_id="secretary")

MISTAKEN: dict[str, tuple[str, Any, str]] = {
    "one key": ("keys", "k" * 32, "keys=[key, old_key]"),
    "a name for a caller": ("caller", "ada", "a function from the context of a call"),
    "a sentence for words": ("words", "Bitte", "words=Words(...)"),
    "one mode": ("clients_can", "form", "clients_can=['form', 'url']"),
    "an address for pages": ("pages", "https://tools.example", 'pages=Pages(url="https://tools.example"'),
    "an address for a vault": ("vault", "sqlite:///x", "Vault(SQLiteStore('secrets.db')"),
    "one provider": ("providers", CALENDAR, "providers=[Provider(...)]"),
    "names of providers": ("providers", ["calendar"], "providers=[Provider(...)]"),
    "no hold": ("hold", None, "leave it out"),
    "one client": ("clients_without_polling", "langchain", "clients_without_polling=['name']"),
    "a moment for a clock": ("clock", 17.0, "seconds since the epoch"),
}


@pytest.mark.parametrize("mistake", MISTAKEN)
def test_an_option_that_cannot_be_meant_is_refused_with_what_to_write(mistake: str):
    name, given, instead = MISTAKEN[mistake]
    server: MCPServer[Any] = MCPServer("tools")
    options: dict[str, Any] = {name: given}
    with pytest.raises(AuthorError) as refused:
        Askback(server, **options)
    assert refused.value.message.startswith(f"Askback(server, {name}=")
    assert instead in refused.value.message
    assert "k" * 32 not in refused.value.message
    Askback(server)  # nothing was installed


@pytest.mark.parametrize("id", [None, 123])
async def test_what_is_no_id_of_a_visit_is_refused_with_where_to_find_it(id: Any):
    asked = Askback(MCPServer("tools"))
    with pytest.raises(AuthorError, match=r"settle\(\.\.\.\) was given .*stood for \{id\} in the link"):
        await asked.settle(id)
    with pytest.raises(AuthorError, match=r"fail\(\.\.\.\) was given .* for the id"):
        await asked.fail(id, "the card was refused")


async def test_a_reason_that_is_no_text_is_refused():
    reason: Any = ValueError("the card was refused")
    with pytest.raises(AuthorError, match="Say in a text what went wrong"):
        await Askback(MCPServer("tools")).fail("an-id", reason)


async def test_a_provider_that_is_not_there_is_named_with_the_verb_that_wanted_it():
    server: MCPServer[Any] = MCPServer("tools")
    Askback(server, providers=[CALENDAR])

    @server.tool()
    async def forget() -> bool:
        return await disconnect("calender")

    @server.tool()
    async def read() -> str:
        return repr(await connect("calender"))

    for tool, verb in (("forget", "disconnect"), ("read", "connect")):
        run = await run_tool(server, tool)
        assert run.text.startswith(f"{verb}(...) was given 'calender'"), run.text
        assert "It has: 'calendar'." in run.text
