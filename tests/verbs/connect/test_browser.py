"""The whole way in a real browser: the link, the door, our page, the provider's pages, and back to the tool."""

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from mcp_types import ElicitRequestURLParams, ElicitResult
from playwright.async_api import Page, expect

from askback.pages.loopback_server import bind_loopback
from tests.support.openid.guarded_server import HOSTS, Host, guarded, registered
from tests.support.openid.provider import OpenID
from tests.support.openid.sign_in import agree, sign_in
from tests.verbs.connect.desktop import desktop
from tests.verbs.connect.office import BASIC, calendar, text_of, tools_of

pytestmark = [pytest.mark.anyio, pytest.mark.strangers, pytest.mark.browser]


class Person:
    """Says yes to a link at once, and goes there while the call waits."""

    def __init__(self, tasks: TaskGroup, go: Callable[[str], Coroutine[Any, Any, None]]) -> None:
        self._tasks, self._go = tasks, go
        self._trips: list[anyio.Event] = []
        self.links: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        self.links.append(params.url)
        self._trips.append(anyio.Event())
        self._tasks.start_soon(self._visit, params.url, self._trips[-1])
        return ElicitResult(action="accept")

    async def is_back(self) -> None:
        """Wait until they have seen the last page: the call may be over before."""
        for trip in self._trips:
            await trip.wait()

    async def _visit(self, link: str, trip: anyio.Event) -> None:
        await self._go(link)
        trip.set()


@pytest.mark.verifies("R21", "R26", "R30", "R31", "R85", "R86")
@pytest.mark.parametrize("host", HOSTS)
async def test_over_http_a_person_is_let_in_by_the_servers_own_issuer_and_connected_with_another(
    openid: OpenID, service: OpenID, page: Page, revision: str, host: Host
):
    async def go(link: str) -> None:
        await page.goto(link)
        await sign_in(page, "alice")
        await agree(page)
        await expect(page.get_by_text("Your calendar is wanted.")).to_be_visible()
        await page.get_by_role("button", name="Continue to calendar").click()
        await sign_in(page, "alice-at-work")
        await agree(page)
        await expect(page.get_by_role("heading", name="You are connected")).to_be_visible()

    async with anyio.create_task_group() as tasks:
        person, ours = Person(tasks, go), calendar(service)
        async with (
            guarded(openid, *tools_of(service), providers=[ours], service=service, host=host) as server,
            server.client("alice", revision, person) as client,
        ):
            said = [text_of(await client.call_tool("fetch", {"scopes": BASIC})) for _ in range(2)]
            await person.is_back()
            assert said == ["alice-at-work: offline_access openid"] * 2
            assert len(person.links) == 1


async def test_a_token_that_is_refused_is_refreshed_and_a_grant_that_was_revoked_is_asked_for_again(
    openid: OpenID, page: Page, revision: str
):
    async def go(link: str) -> None:
        await page.goto(link)
        if len(person.links) == 1:
            await sign_in(page, "bob")
            await agree(page)
        await page.get_by_role("button", name="Continue to calendar").click()
        await agree(page)
        await expect(page.get_by_role("heading", name="You are connected")).to_be_visible()

    async with anyio.create_task_group() as tasks:
        person, ours = Person(tasks, go), calendar(openid)
        async with (
            guarded(openid, *tools_of(openid), providers=[ours]) as server,
            server.client("bob", revision, person) as client,
        ):
            await client.call_tool("fetch", {"scopes": BASIC})
            await person.is_back()
            await openid.cut("bob")
            said = [text_of(await client.call_tool("fetch_twice", {}))]
            assert (len(person.links), len(await openid.refreshes(ours.client_id))) == (1, 1)
            await openid.revoke("bob")
            said += [text_of(await client.call_tool("fetch_twice", {}))]
            await person.is_back()
            assert said == ["bob: offline_access openid"] * 2
            assert len(person.links) == 2


@pytest.mark.verifies("R30", "R31", "R84", "R85")
async def test_over_stdio_the_pages_are_on_this_machine_at_the_port_that_the_provider_knows(
    openid: OpenID, page: Page, revision: str
):
    async def go(link: str) -> None:
        await page.goto(link)
        await page.get_by_role("button", name="Continue to calendar").click()
        await sign_in(page, "alice")
        await agree(page)
        await expect(page.get_by_role("heading", name="You are connected")).to_be_visible()

    with bind_loopback(0, who="A test") as listener:
        port: int = listener.getsockname()[1]
    (ours,) = await registered(openid, f"http://127.0.0.1:{port}/askback", [calendar(openid)])
    async with anyio.create_task_group() as tasks:
        person = Person(tasks, go)
        async with desktop(ours, revision, person, port=port) as client:
            said = [text_of(await client.call_tool("fetch", {"scopes": BASIC})) for _ in range(2)]
            await person.is_back()
            assert said == ["alice: offline_access openid"] * 2
            assert len(person.links) == 1
