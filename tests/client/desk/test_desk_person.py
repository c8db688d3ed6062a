"""The desk for everybody: by keyboard alone, on small screens, in dark and light, and never by accident."""

import pytest
from playwright.async_api import Browser, Page, expect

from askback.answers import Accepted, Declined
from tests.client.turns import make_form, make_visit
from tests.support.desk import Sitting, press, ready, sit_down, turn_to

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

CONTRASTS = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const colour = numbers(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility()
    && [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ""));
  return texts.map((element) => {
    const [a, b] = [light(numbers(getComputedStyle(element).color)), light(ground(element))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${element.tagName}.${element.className}`];
  }).filter(([ratio]) => ratio < 4.5);
}"""
"""Every text whose contrast with what lies behind it is too low."""


async def focused(page: Page) -> str:
    return await page.evaluate(
        "(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()"
    )


async def test_a_form_can_be_answered_by_keyboard_alone(sitting: Sitting):
    asking, page = await sitting.tab_with(make_form())
    await expect(page.get_by_role("heading", name="pizzeria asks")).to_be_focused()
    order: list[str] = []
    for _ in range(6):
        await page.keyboard.press("Tab")
        order.append(await focused(page))
    assert order == ["Anything with your pizza?", "None", "Tip in euro", "Review", "Decline", "Cancel"]
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.type("4")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Review before sending")).to_be_focused()
    await ready(page)
    await page.keyboard.press("Tab")
    assert await focused(page) == "Send"
    await page.keyboard.press("Enter")
    assert await asking.answer() == Accepted({"drink": "none", "tip": 4})


async def test_boxes_have_labels_and_say_what_they_expect_and_what_is_wrong(sitting: Sitting):
    _, page = await sitting.tab_with(make_form())
    box = page.get_by_role("textbox", name="Tip in euro")
    await expect(box).to_have_accessible_description("may stay empty · whole number, 0 to 20")
    await box.fill("many")
    await expect(page.locator(".problem:not(:empty)")).to_have_attribute("aria-live", "polite")
    await expect(box).to_have_attribute("aria-invalid", "true")
    for role in ("banner", "navigation", "main"):
        await expect(page.get_by_role(role)).to_have_count(1)


@pytest.mark.verifies("T21")
async def test_a_click_or_key_meant_for_what_stood_there_before_does_not_count(sitting: Sitting):
    first, page = await sitting.tab_with(make_form())
    second = sitting.ask(make_visit())
    await expect(page.locator(".row")).to_have_count(2)
    await page.clock.install()  # the page's time stands still from here
    await page.get_by_role("button", name="Decline", exact=True).click()
    assert await first.answer() == Declined()
    await page.get_by_role("heading", name="wants to open a page").wait_for()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Space")
    for name in ("Decline", "Open in the browser", "Cancel"):
        await page.get_by_role("button", name=name, exact=True).click()
    assert second.is_open and sitting.opened == []
    await page.clock.run_for(2_000)
    await press(page, "Decline")
    assert await second.answer() == Declined()


@pytest.mark.verifies("T21")
async def test_a_key_that_is_held_down_presses_nothing(sitting: Sitting):
    asking, page = await sitting.tab_with(make_visit())
    went_on = await page.get_by_role("button", name="Decline", exact=True).evaluate(
        """(one) => one.dispatchEvent(
            new KeyboardEvent("keydown", { key: "Enter", repeat: true, bubbles: true, cancelable: true }))"""
    )
    assert went_on is False
    assert asking.is_open


@pytest.mark.verifies("R61")
async def test_what_enter_would_press_on_a_link_is_seen_also_after_a_click(sitting: Sitting):
    _, page = await sitting.tab_with(make_form())
    sitting.ask(make_visit(label="bistro"))
    await page.locator(".row", has_text="bistro").click()
    decline = page.get_by_role("button", name="Decline", exact=True)
    await expect(decline).to_be_focused()
    await expect(decline).to_have_css("outline-style", "solid")
    await expect(decline).to_have_css("outline-width", "3px")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_text_can_be_read_in_either_light(browser: Browser, scheme: str):
    async with sit_down(browser, color_scheme=scheme) as sitting:
        secret = {"type": "object", "properties": {"pin": {"type": "string", "title": "Your password"}}}
        turns = [
            make_form(),
            make_form(secret),
            make_visit("http://127.0.0.1:8080/"),
            make_visit("javascript:0"),
        ]
        for turn in turns:
            sitting.ask(turn)
        gone = sitting.ask(make_form())
        page = await sitting.tab()
        await ready(page)
        await page.get_by_label("Tip in euro").fill("99")
        await page.locator(".problem:not(:empty)").wait_for()
        rows = page.locator(".row")
        await expect(rows).to_have_count(len(turns) + 1)
        for place in range(len(turns) + 1):
            await turn_to(page, rows.nth(place))
            assert await page.evaluate(CONTRASTS) == []
        gone.turn.withdraw("The server is not there any more.")
        await page.locator(".banner.gone").wait_for()
        await ready(page)
        assert await page.evaluate(CONTRASTS) == []


async def test_a_small_phone_shows_everything_without_scrolling_sideways(browser: Browser):
    async with sit_down(browser, viewport={"width": 320, "height": 568}) as sitting:
        sitting.ask(make_form())
        sitting.ask(
            make_visit("https://a-rather-long-name-for-a-host.shop.example.com/and/a/long/path?with=more")
        )
        page = await sitting.tab()
        await ready(page)
        for place in range(2):
            await page.locator("#toggle").click()
            await turn_to(page, page.locator(".row").nth(place))
            assert await page.evaluate("document.documentElement.scrollWidth") == 320
            for name in ("Decline", "Cancel"):
                await expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
