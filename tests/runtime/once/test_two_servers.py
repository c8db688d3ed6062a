"""Two servers on one store: what an effect gave in one of them is none of the other's."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from askback.model.store import Store
from askback.runtime.context import CallContext
from askback.server.hosts import is_named
from askback.server.page_host import ServerPages
from askback.testing import REVISIONS, run_tool
from tests.runtime.once.bank import Bank
from tests.runtime.once.servers import Host, serve
from tests.support.defence import with_and_without
from tests.support.stores.workers import Opener

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]


def without_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scope of an effect does not say which server it is of."""
    whole = CallContext._digest  # pyright: ignore[reportPrivateUsage] # the defence that is taken away

    def digest(self: CallContext, _server: str, caller: str, key: str) -> str:
        return whole(self, "", caller, key)

    monkeypatch.setattr(CallContext, "_digest", digest)


@with_and_without
@pytest.mark.parametrize("revision", [REVISIONS[0], REVISIONS[-1]])
async def test_an_effect_of_one_server_is_not_taken_for_that_of_another(
    is_defended: bool, revision: str, every_host: Host, opener: Opener, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        without_its_name(monkeypatch)
    savings, loans = Bank(), Bank()
    store = opener(time.time)
    servers = [
        serve(every_host, bank.body, name=name, store=store)
        for name, bank in (("savings", savings), ("loans", loans))
    ]
    for _ in range(2):  # and each of them still runs its own once
        for server in servers:
            await run_tool(server, "t", revision=revision)
    assert savings.made == ["Ada"]
    assert loans.made == (["Ada"] if is_defended else [])


UNNAMED: dict[Host, Callable[[], Any]] = {
    "MCPServer": MCPServer,
    "FastMCP": FastMCP,
    "Server": lambda: Server(""),
}


def lend(host: Host, bank: Bank, store: Store) -> Any:
    """A server whose author gave it no name."""
    server = serve(host, bank.body, name=UNNAMED[host]().name, store=store)
    assert not is_named(server)
    return server


@with_and_without
async def test_a_server_without_a_name_never_gets_what_another_one_did(
    is_defended: bool, every_host: Host, opener: Opener, monkeypatch: pytest.MonkeyPatch
):
    """Where only this process has the store, each is told from the other; else it is refused, and nothing is done."""
    if not is_defended:
        monkeypatch.setattr(ServerPages, "effect_name", ServerPages.lasting_name)
    savings, loans = Bank(), Bank()
    store = opener(time.time)
    first = await run_tool(lend(every_host, savings, store), "t")
    second = await run_tool(lend(every_host, loans, store), "t")
    if not is_defended:
        assert (savings.made, loans.made, second.text) == (["Ada"], [], first.text)
    elif store.reach == "process":
        assert (savings.made, loans.made) == (["Ada"], ["Ada"])
    else:
        assert (savings.made, loans.made) == ([], [])
        for refused in (first, second):
            assert (
                refused.is_error
                and "nobody named it" in refused.text
                and 'MCPServer("weather")' in refused.text
            )


async def test_workers_of_one_server_have_one_name_and_share_what_was_done(every_host: Host, opener: Opener):
    bank = Bank()
    for _worker in range(2):
        server = serve(every_host, bank.body, name="bank", store=opener(time.time))
        await run_tool(server, "t")
    assert bank.made == ["Ada"]
