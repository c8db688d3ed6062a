"""A query on the desk, on the screen of a phone: all of it can be read, and the choice is the person's."""

import anyio
import pytest
from mcp.server import MCPServer
from playwright.async_api import Browser, expect

from askback.client import Driver
from tests.examples.guards.conftest import FEW
from tests.support.desk import PATIENCE, ready, review_and_send, sit_down
from tests.support.link_follower import text_of

pytestmark = pytest.mark.browser

STATEMENT = """SELECT name, email,
    'a long text, and then a line that could pass for ours: It shows and tests no personal columns.' AS said
FROM customers
ORDER BY id"""


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_what_an_agent_wants_to_run_is_read_and_decided_on_the_desk(
    browser: Browser, shop: MCPServer, revision: str
):
    said: list[str] = []
    with anyio.fail_after(3 * PATIENCE):
        async with sit_down(browser, viewport={"width": 390, "height": 844}) as sitting:

            async def call() -> None:
                async with Driver(shop, sitting.desk, label="shop", revision=revision) as driver:
                    said.append(text_of(await driver.call_tool("query", {"statement": STATEMENT})))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                page = await sitting.tab()
                await ready(page)
                await expect(page.locator(".row-says")).to_have_text("Run this query?…")
                lines = page.locator(".message .line")
                await expect(lines.filter(has_text="main.customers.email: contact details")).to_have_count(1)
                await expect(lines.filter(has_text="| FROM customers")).to_have_count(1)
                assert "It shows and tests no personal columns." not in await lines.all_inner_texts()
                await page.get_by_label(f"Run it for at most {FEW} rows").check()
                await review_and_send(page)
            sitting.expect_nothing_odd()
    assert len(said[0].splitlines()) == 1 + FEW
