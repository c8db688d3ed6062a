"""Real servers behind the desk: two of them, in processes of their own, as the page on the desk shows it."""

import anyio
import pytest
from playwright.async_api import Browser, expect

from examples.desk.host import dinner
from tests.support.desk import HURRY, PATIENCE, review_and_send

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


async def test_two_servers_on_one_desk_are_answered_in_one_tab(browser: Browser):
    send, receive = anyio.create_memory_object_stream[str](1)
    said: list[str] = []

    async def dine() -> None:
        said.extend(await dinner(send.send_nowait))

    with send, receive, anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(dine)
            page = await browser.new_page()
            await page.add_init_script(HURRY)
            await page.goto((await receive.receive()).removeprefix("Answer here: "))
            await expect(page.locator(".row")).to_have_count(2, timeout=PATIENCE * 1000)
            await page.locator(".row", has_text="pizzeria").click()
            await page.get_by_role("heading", name="pizzeria asks").wait_for()
            await page.get_by_label("Cola").check()
            await review_and_send(page)
            await page.locator(".row", has_text="Order Margherita").click()
            await page.locator(".message", has_text="Order Margherita").wait_for()
            await page.get_by_label("Yes", exact=True).first.check()
            await review_and_send(page)
            await page.get_by_role("heading", name="front desk asks").wait_for()
            await page.locator(".card input[type=text]").fill("3")
            await review_and_send(page)
            await page.close()
    assert sorted(said) == ["3 seats", "Order 1: Margherita, cola, tip 0"]
