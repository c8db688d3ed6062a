"""Guards on the desk, in a real browser: what is asked is read in full, and what is not agreed to does not run."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from playwright.async_api import Browser, Page, expect

from askback.client import Driver
from tests.guards.people.errands import FEW, NAMES, STATEMENT, Errands
from tests.guards.serving import HOSTS
from tests.support.desk import PATIENCE, press, ready, review_and_send, sit_down
from tests.support.link_follower import text_of

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


WIDTHS = {"desktop": {"width": 1200, "height": 800}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=HOSTS)
def host(request: pytest.FixtureRequest) -> str:
    return request.param


class Calling:
    """Calls that an agent makes while somebody sits at the desk; what came of the last one."""

    def __init__(self, driver: Driver, page: Page) -> None:
        self._driver, self.page = driver, page
        self.said = ""

    @asynccontextmanager
    async def call(self, tool: str, **arguments: Any) -> AsyncGenerator[Page]:
        """Inside, its question can be answered; behind, it is over."""

        async def run() -> None:
            self.said = text_of(await self._driver.call_tool(tool, arguments))

        with anyio.fail_after(3 * PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await ready(self.page)
                yield self.page


@asynccontextmanager
async def calling(browser: Browser, server: Any, revision: str, **look: Any) -> AsyncGenerator[Calling]:
    async with (
        sit_down(browser, **look) as sitting,
        Driver(server, sitting.desk, label="errands", revision=revision) as driver,
    ):
        yield Calling(driver, await sitting.tab())


async def test_a_yes_and_nothing_else_deletes(browser: Browser, errands: Errands, host: str, revision: str):
    file = errands.add("old.txt")
    async with calling(browser, HOSTS[host](*errands.functions()), revision) as agent:
        for name in ("Decline", "Cancel"):
            async with agent.call("delete", path="old.txt") as page:
                await expect(page.locator(".message")).to_have_text("Delete old.txt?")
                await press(page, name)
            assert agent.said.startswith("delete was not run: ") and file.exists()
        async with agent.call("delete", path="old.txt") as page:
            await page.get_by_label("Yes", exact=True).check()
            await review_and_send(page)
        assert agent.said == "old.txt is gone" and not file.exists()


async def test_a_yes_for_an_hour_says_what_it_covers_and_covers_no_more(
    browser: Browser, errands: Errands, host: str, revision: str
):
    async with calling(browser, HOSTS[host](*errands.functions()), revision) as agent:
        async with agent.call("send", to="ada", text="hello") as page:
            hour = page.get_by_label("Yes, and for an hour: send with to = ada, whatever else changes")
            await hour.check()
            await review_and_send(page)
        assert agent.said == "sent to ada"
        await expect(agent.page.locator(".empty")).to_be_visible()
        async with agent.call("send", to="bob", text="hello") as page:
            await page.get_by_label("No", exact=True).check()
            await review_and_send(page)
        assert agent.said.startswith("send was not run: the person said no.")
    assert errands.sent == ["ada: hello"]


@pytest.mark.parametrize("width", WIDTHS)
async def test_a_statement_is_read_to_its_end_with_all_choices_in_sight(
    browser: Browser, errands: Errands, width: str
):
    server = HOSTS["MCPServer"](*errands.functions())
    async with calling(browser, server, "2026-07-28", viewport=WIDTHS[width]) as agent:
        async with agent.call("query", statement=STATEMENT) as page:
            for choice in ("Run it", f"Run it for at most {FEW} rows", "Do not run it"):
                await expect(page.get_by_label(choice, exact=True)).to_be_in_viewport(ratio=1)
            await expect(page.get_by_role("button", name="Decline", exact=True)).to_be_in_viewport(ratio=1)
            last = page.locator(".message .line").last
            await expect(last).to_have_text("  | ORDER BY id")
            await last.scroll_into_view_if_needed()
            await expect(last).to_be_in_viewport(ratio=1)
            assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            await page.get_by_label(f"Run it for at most {FEW} rows").check()
            await review_and_send(page)
        assert agent.said == " ".join(NAMES[:FEW])
