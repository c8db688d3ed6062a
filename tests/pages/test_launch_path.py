"""The pages of one launch on this machine: below a path that its links alone tell. No other port gets its cookie."""

import socket
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from askback.model.owners import LOCAL
from askback.model.visit import VisitDeclined
from askback.pages import Pages
from askback.pages.sessions import BrowserSessions
from tests.pages.test_loopback import free_port
from tests.support.defence import with_and_without
from tests.support.visit_pages import ADA, Grounds, listening, on_this_machine
from tests.support.visitor import Visitor, visitor

pytestmark = pytest.mark.verifies("R92", "R82")


def root_of(grounds: Grounds) -> str:
    return grounds.base.rpartition("/")[0]


def launch_of(grounds: Grounds) -> str:
    return grounds.base.rpartition("/")[2]


def cookies_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    make = BrowserSessions.__init__

    def everywhere(self: BrowserSessions, base: str, key: bytes, *, clock: Any, path: str = "/") -> None:
        make(self, base, key, clock=clock)

    monkeypatch.setattr(BrowserSessions, "__init__", everywhere)


@pytest.mark.browser
@with_and_without
async def test_a_listener_on_another_port_does_not_get_the_cookie(
    browser: Browser, is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_defended:
        cookies_everywhere(monkeypatch)
    got: list[str] = []

    async def take(request: Request) -> Response:
        got.append(request.headers.get("cookie", ""))
        return PlainTextResponse("hello")

    async with on_this_machine() as grounds:
        with socket.socket(proto=socket.IPPROTO_TCP) as listener:
            listener.bind(("127.0.0.1", 0))
            theirs = f"http://127.0.0.1:{listener.getsockname()[1]}"
            paths = ["/", "/askback", "/askback/", "/askback/visit/x"]
            async with listening(Starlette(routes=[Route(path, take) for path in paths]), listener):
                context = await browser.new_context()
                page = await context.new_page()
                await page.goto(await grounds.secret())
                assert await page.inner_text("h1") == "weather asks for your weather key"
                for path in paths:
                    await page.goto(theirs + path)
                await context.close()
    assert len(got) == len(paths) and (not any(got)) is is_defended


async def begun(grounds: Grounds, ada: Visitor) -> str:
    """The state with which somebody goes to the provider; the address to come back to is the registered one."""
    out = (await ada.agree(await grounds.connect("books:read"))).response.next_request
    assert out is not None
    assert out.url.params["redirect_uri"] == f"{root_of(grounds)}/callback/library"
    return out.url.params["state"]


async def test_the_address_that_a_provider_knows_leads_on_who_has_a_state_of_this_launch() -> None:
    async with on_this_machine() as grounds, visitor() as ada, visitor() as other:
        state = await begun(grounds, ada)
        query = f"error=access_denied&state={state}&x=%2F%26"
        led = await other.client.get(f"{root_of(grounds)}/callback/library?{query}")
        assert (led.status_code, led.headers["location"]) == (303, f"{grounds.base}/callback/library?{query}")
        assert (await other.open(led.headers["location"])).status == 403  # it is ada's
        shown = await ada.open(f"{root_of(grounds)}/callback/library?{query}")
        assert shown.heading == "You said no"


async def test_nobody_else_is_told_where_the_pages_are() -> None:
    async with on_this_machine() as grounds, visitor() as ada:
        state, ended = await begun(grounds, ada), await grounds.secret()
        await grounds.end(ended, VisitDeclined())
        grounds.owner = ADA
        of_a_caller_elsewhere = (await grounds.secret()).rpartition("/")[2]
        paths = [
            "",
            "/",
            "/kept",
            "/style.css",
            "/callback/library",
            "/callback/library?state=made-up",
            f"/callback/library?state={state}&state={state}",
            f"/callback/other?state={state}",
            f"/callback/?state={state}",
            f"/{'A' * 22}/kept",
            f"/{'A' * 22}/visit/{'A' * 43}",
            f"/{'A' * 22}/visit/{ended.rpartition('/')[2]}",
            f"/{'A' * 22}/visit/{of_a_caller_elsewhere}",
            f"/{'é' * 22}/visit/x",
        ]
        async with visitor() as stranger:
            for path in paths:
                answer = await stranger.client.get(root_of(grounds) + path)
                assert (answer.status_code, answer.content) == (403, b""), path
                assert launch_of(grounds) not in str(answer.headers)
            posted = await stranger.client.post(f"{root_of(grounds)}/callback/library?state={state}")
            assert (posted.status_code, posted.content) == (403, b"")


async def test_a_state_of_another_launch_is_none_here_even_where_they_share_a_store() -> None:
    async with on_this_machine() as one, visitor() as ada:
        state = await begun(one, ada)
        await one.asked.page_host.loopback.close()
        base = await one.asked.page_host.base_address(is_local=True)
        answer = await ada.client.get(f"{base.rpartition('/')[0]}/callback/library?state={state}")
        assert (answer.status_code, answer.content) == (403, b"")


async def test_a_link_of_an_earlier_launch_leads_to_the_same_visit_of_this_one() -> None:
    port = free_port()
    async with on_this_machine(Pages(port=port)) as grounds, visitor() as before, visitor() as after:
        link = await grounds.secret()
        token = (await before.open(link)).token
        house = grounds.asked.page_host
        await house.loopback.close()
        grounds.base = await house.base_address(is_local=True)
        assert not link.startswith(grounds.base)
        shown = await before.post(link, {"answer": "yes", "field-value": "early"}, token=token)
        assert (shown.status, shown.heading) == (200, "weather asks for your weather key")
        assert str(shown.response.url).startswith(grounds.base) and await grounds.kept(LOCAL) == {}
        assert (await after.open(link)).status == 403  # it was opened once
        assert (await before.give(str(shown.response.url), "k")).heading == "Saved"


async def test_all_of_a_launch_is_below_its_path() -> None:
    async with on_this_machine() as grounds, visitor() as ada:
        answer = await ada.client.get(link := await grounds.secret())
        (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
        assert cookie["path"] == urlsplit(grounds.base).path and link.startswith(grounds.base)
        assert len(launch_of(grounds)) == 22
        shown = await ada.open(link)
        assert (
            f'href="{grounds.base}/style.css"' in shown.html
            and f'"{root_of(grounds)}/style' not in shown.html
        )
