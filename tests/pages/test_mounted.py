"""The pages beside /mcp: by themselves in servers that have an application, and in one line in any other."""

from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from askback import Askback
from askback.errors import OperatorError
from askback.model.owners import owner_from_name
from askback.model.visit import StoredVisit
from askback.pages import Pages
from askback.stores import MemoryStore
from askback.vault.keyring import KeyRing
from askback.vault.vault import Vault
from tests.support.visit_pages import WHO, by_function
from tests.support.visitor import visitor


def in_mcpserver(url: str) -> tuple[Askback, ASGIApp]:
    server = MCPServer("weather")
    asked = installed(server, url)
    return asked, server.streamable_http_app(transport_security=None)


def in_fastmcp(url: str) -> tuple[Askback, ASGIApp]:
    server: FastMCP[Any] = FastMCP("weather")
    asked = installed(server, url)
    return asked, server.http_app()


def in_a_plain_application(url: str) -> tuple[Askback, ASGIApp]:
    asked = installed(Server[Any]("weather"), url)
    app = Starlette()
    app.mount("/askback", asked.pages)
    return asked, app


def by_itself(url: str) -> tuple[Askback, ASGIApp]:
    asked = installed(Server[Any]("weather"), url)
    return asked, asked.pages


def installed(server: Any, url: str) -> Askback:
    vault = Vault(MemoryStore(), KeyRing([bytes(32)]))
    return Askback(server, pages=by_function(url), vault=vault, caller=lambda _: "ada")


async def link_of(asked: Askback, url: str) -> str:
    id = asked.visits.new_id()
    fields = [{"name": "value", "label": "weather key", "hint": "", "hidden": True}]
    await asked.visits.open(
        StoredVisit(
            id=id,
            kind="secret",
            server=asked.page_host.server,
            owner=owner_from_name("ada"),
            client="",
            message="To look up the forecast.",
            asked_at=0,
            until=9e9,
            about={"name": "weather key", "fields": fields, "keep": None},
        )
    )
    return f"{url}/askback/visit/{id}"


HOSTS = [in_mcpserver, in_fastmcp, in_a_plain_application, by_itself]
Host = Callable[[str], tuple[Askback, ASGIApp]]


async def expect_pages(app: ASGIApp, link: str, url: str) -> None:
    """A visit from its link to its end, and what the page loads."""
    async with visitor(app) as ada:
        ada.client.headers[WHO] = "ada"
        assert (
            (await ada.client.get(f"{url}/askback/style.css")).headers["content-type"].startswith("text/css")
        )
        shown = await ada.open(link)
        assert shown.status == 200 and f'action="{link}"' in shown.html
        assert f'href="{url}/askback/style.css"' in shown.html
        assert (await ada.give(link, "k")).heading == "Saved"
        assert (await ada.open(f"{url}/askback/kept")).status == 200
        assert (await ada.open(f"{url}/askback/kept/")).status == 404


@pytest.mark.parametrize("host", HOSTS)
async def test_a_visit_goes_from_its_link_to_its_end_beside_the_server(host: Host) -> None:
    url = "https://tools.example"
    asked, app = host(url)
    await expect_pages(app, await link_of(asked, url), url)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("way", ["mounted", "behind a proxy that takes the prefix off"])
async def test_the_same_below_a_path(host: Host, way: str) -> None:
    url = "https://tools.example/team/tools"
    asked, app = host(url)
    outer = Starlette(routes=[Mount("/team/tools", app)]) if way == "mounted" else without_prefix(app)
    await expect_pages(outer, await link_of(asked, url), url)


def without_prefix(app: ASGIApp) -> ASGIApp:
    async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix("/team/tools")
        await app({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    return proxy


async def test_a_server_without_an_address_says_what_is_missing() -> None:
    asked = Askback(MCPServer("weather"), pages=Pages())
    with pytest.raises(OperatorError, match=r"These pages have no address"):
        _ = asked.pages
