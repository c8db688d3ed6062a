"""A link on the desk: who, where and why before anything opens, and a deliberate word to open it."""

import re

import pytest
from playwright.async_api import expect

from askback.answers import Accepted, Cancelled, Declined
from tests.client.turns import make_visit
from tests.support.desk import Sitting, press, ready

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

OPEN_BY_FORCE = """async () => {
  const headers = { authorization: "Bearer " + sessionStorage.getItem("desk-token") };
  const path = `/cards/${document.querySelector(".card").dataset.id}/open`;
  return (await fetch(path, { method: "POST", body: "{}", headers })).status;
}"""
"""What a page that was turned against the person would try."""

URL = "https://pay.example.com/order/7?for=you#top"


@pytest.mark.verifies("R47", "R49", "R59", "R60", "R64")
async def test_who_where_and_why_stand_above_the_whole_address(sitting: Sitting):
    asking, page = await sitting.tab_with(make_visit(URL, name="Luigi", host="mcp.pizza.example"))
    facts = page.locator(".facts dd")
    await expect(facts.nth(0)).to_have_text("pizzeria at mcp.pizza.example, which calls itself “Luigi”")
    await expect(facts.nth(1)).to_have_text("pay.example.com")
    await expect(facts.nth(1).locator("strong")).to_have_text("example.com")
    await expect(facts.nth(2)).to_have_text("tool order")
    await expect(page.locator(".url")).to_have_text(URL)
    assert asking.is_open and sitting.opened == []


@pytest.mark.verifies("R61", "R62")
async def test_a_link_opens_once_somebody_says_so_and_nothing_is_fetched_before(sitting: Sitting):
    asking, page = await sitting.tab_with(make_visit(URL))
    assert sitting.opened == []
    assert await page.locator("a[href^=http]").count() == 0
    await press(page, "Open in the browser")
    assert await asking.answer() == Accepted(None)
    assert [verdict.href for verdict in sitting.opened] == [URL]


@pytest.mark.verifies("R61", "T21")
async def test_enter_never_opens_a_link(sitting: Sitting):
    asking, page = await sitting.tab_with(make_visit(URL))
    await expect(page.get_by_role("button", name="Decline", exact=True)).to_be_focused()
    await page.get_by_role("button", name="Open in the browser").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".notice")).to_contain_text("Enter does not open links")
    assert asking.is_open and sitting.opened == []
    await page.keyboard.press("Space")
    assert await asking.answer() == Accepted(None)


@pytest.mark.verifies("R61")
async def test_enter_without_a_look_declines(sitting: Sitting):
    asking, page = await sitting.tab_with(make_visit(URL))
    await page.keyboard.press("Enter")
    assert await asking.answer() == Declined()
    assert sitting.opened == []


@pytest.mark.verifies("R48")
async def test_a_link_can_be_cancelled(sitting: Sitting):
    asking, page = await sitting.tab_with(make_visit(URL))
    await press(page, "Cancel")
    assert await asking.answer() == Cancelled()
    assert sitting.opened == []


REFUSED = [
    "javascript:alert(1)",
    "https://github.com@evil.example/",
    "file:///etc/passwd",
    "http://example.com/",
    "?",
]


async def test_a_refused_link_has_no_button_and_no_other_way_to_open(sitting: Sitting):
    askings = [sitting.ask(make_visit(url)) for url in REFUSED]
    page = await sitting.tab()
    for asking in askings:
        await ready(page)
        await expect(page.locator(".banner.caution").first).to_be_visible()
        await expect(page.get_by_role("button", name="Open")).to_have_count(0)
        assert await page.locator("a[href]:not(.skip)").count() == 0
        assert await page.evaluate(OPEN_BY_FORCE) == 409
        assert asking.is_open
        await press(page, "Decline")
        assert await asking.answer() == Declined()
    assert sitting.opened == []
    sitting.upsets.clear()  # the browser logs the refused requests


@pytest.mark.verifies("R65")
async def test_a_disguised_host_is_warned_of_in_words(sitting: Sitting):
    _, page = await sitting.tab_with(make_visit("https://xn--pple-43d.com/"))
    await expect(page.locator(".banner.caution").first).to_be_visible()
    await expect(page.locator(".url")).to_contain_text("xn--pple-43d.com")


@pytest.mark.verifies("R53", "R61")
async def test_where_no_browser_starts_the_person_may_click_the_link_itself(sitting: Sitting):
    sitting.can_open = False
    await sitting.context.route("https://pay.example.com/**", lambda route: route.fulfill(body="paid"))
    asking, page = await sitting.tab_with(make_visit("https://pay.example.com/order/7"))
    await press(page, "Open in the browser")
    link = page.get_by_role("link", name="Open the page here")
    await expect(link).to_have_attribute("rel", "noopener noreferrer")
    assert asking.is_open
    await ready(page)
    async with sitting.context.expect_page() as opened:
        await link.click()
    assert await asking.answer() == Accepted(None)
    visited = await opened.value
    assert visited.url == "https://pay.example.com/order/7"
    assert await visited.evaluate("[window.opener, document.referrer]") == [None, ""]
    sitting.addresses.discard(visited.url)


@pytest.mark.verifies("R66")
async def test_a_visit_under_way_counts_the_time_and_takes_a_word(sitting: Sitting):
    page = await sitting.tab()
    waiting = sitting.wait(make_visit(URL))
    await press(page, "Done")
    assert await waiting.word() == "done"
    waiting = sitting.wait(make_visit(URL))
    await press(page, "Cancel")
    assert await waiting.word() == "cancel"


async def test_the_time_of_a_visit_goes_on_in_the_page_and_across_a_reload(sitting: Sitting):
    page = await sitting.tab()
    await page.clock.install()
    sitting.wait(make_visit(URL))
    clock = page.locator(".clock")
    await expect(clock).to_have_text(re.compile("0:[0-5]."))
    await page.clock.run_for(60_000)
    await expect(clock).to_have_text(re.compile("1:.."))
    sitting.seconds += 3600
    await page.reload()
    await expect(clock).to_have_text(re.compile("60:.."))


@pytest.mark.verifies("R66")
async def test_retry_opens_the_page_again_and_the_wait_goes_on(sitting: Sitting):
    waiting = sitting.wait(make_visit(URL))
    page = await sitting.tab()
    await press(page, "Retry")
    await expect(page.locator(".notice")).to_have_text("The page was opened again.")
    await expect(page.locator(".meanings")).to_contain_text("Retry: open the page again.")
    assert [verdict.href for verdict in sitting.opened] == [URL]
    sitting.can_open = False
    await press(page, "Retry")
    await expect(page.get_by_role("link", name="Open the page here")).to_have_attribute("href", URL)
    await press(page, "Done")
    assert await waiting.word() == "done"


async def test_a_visit_that_the_server_calls_finished_needs_no_word(sitting: Sitting):
    waiting = sitting.wait(make_visit(URL))
    page = await sitting.tab()
    await ready(page)
    waiting.finished.set()
    assert await waiting.word() == "done"
    await expect(page.locator(".banner.gone")).to_have_text("The server says that it is finished.")
