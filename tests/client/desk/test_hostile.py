"""Whatever a server writes, wherever it can write: it is shown as text in a frame, and the buttons stay in sight."""

from random import Random
from typing import Any

import pytest
from playwright.async_api import Page, expect

from askback.answers import Declined
from askback.client.person import Turn
from tests.client.turns import make_form, make_visit
from tests.support.desk import Asking, Sitting, press, ready

pytestmark = [pytest.mark.anyio, pytest.mark.browser, pytest.mark.verifies("T14", "T16")]

TEXTS = [
    "<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>",
    "</textarea></p></article><iframe src=//evil.example></iframe><style>*{top:0}</style>",
    "[Send](javascript:alert(1)) https://evil.example <a href=//evil.example>Safe</a> <button>",
    "{{7*7}} ${alert(1)} <%= 1 %> {% raw %} &lt;b&gt; &#x3c;",
    "\u202egnp.exe\u2066\u200b\u200f\ufeff\u2028\u2029\u00ad",
    "\x1b]0;owned\x07\x1b[2J\x1b[31m\x00\x7f\x9b31m\r\n\t",
    "\ud800 Z\u0341\u0342\u0343\u0344\u0345" + "a" + "\u0301" * 200,
    "W" * 5_000,
    "".join(chr(Random(7 * number).randrange(256)) for number in range(2_000)),
]


def hostile_form(text: str) -> Turn:
    schema: dict[str, Any] = {
        "type": "object",
        "title": text,
        "description": text,
        "properties": {
            text[:80]: {"type": "string", "title": text, "description": text, "default": text[:300]},
            "choice": {"type": "string", "title": text, "oneOf": [{"const": text[:90], "title": text}, {"const": "b"}]},
            "many": {"type": "array", "title": text, "items": {"type": "string", "enum": [text[:90], "b"]}},
            "long": {"type": "string", "title": text, "enum": [*(f"{text[:80]}{number}" for number in range(9))]},
            "odd": {"type": "object", "title": text},
        },
    }  # fmt: skip
    return make_form(
        schema, message=text, label=text[:200], name=text, host=text[:100], purpose=f"tool {text}"
    )


def hostile_visit(text: str) -> Turn:
    return make_visit(
        f"https://example.com/{text}", message=text, label=text[:200], name=text, purpose=f"tool {text}"
    )


async def decline(page: Page, asking: Asking) -> None:
    """And wait until its card is off the page, so that what is looked at next is another."""
    card = await ready(page)
    await card.evaluate("(card) => card.classList.add('declined-here')")
    await press(page, "Decline")
    assert await asking.answer() == Declined()
    await page.locator(".declined-here").wait_for(state="detached")


LOOK = """() => {
  const count = (what) => document.querySelectorAll(what).length;
  const is_in_sight = (one) => {
    const box = one.getBoundingClientRect();
    return one.checkVisibility() && box.left >= 0 && box.top >= 0 && box.width > 0
      && box.right <= window.innerWidth && box.bottom <= window.innerHeight;
  };
  return {
    strange: count("iframe, object, embed, svg, style, [onerror], [onload]"),
    scripts: count("script"),
    links: count("a:not(.skip)"),
    sideways: document.documentElement.scrollWidth - window.innerWidth,
    buttons: [...document.querySelectorAll(".card .foot button")].filter(is_in_sight).map((one) => one.textContent),
  };
}"""
"""In one go: it is looked at often."""


async def expect_calm(page: Page) -> None:
    """Nothing of the server's has become an element, a style or a way out of its frame; the ways out are in sight."""
    seen = await page.evaluate(LOOK)
    assert (seen["strange"], seen["scripts"], seen["links"]) == (0, 1, 0)
    assert seen["sideways"] <= 0
    assert {"Decline", "Cancel", "Decline all from this server"} <= set(seen["buttons"])


@pytest.mark.verifies("R53")
async def test_hostile_text_in_every_place_of_a_form_stays_text(sitting: Sitting):
    askings = [sitting.ask(hostile_form(text)) for text in TEXTS]
    page = await sitting.tab()
    for asking in askings:
        await ready(page)
        await expect_calm(page)
        if await page.get_by_role("button", name="Review").count():
            await press(page, "Review")
            await page.locator(".review, .stop:not(:empty), .problem:not(:empty)").first.wait_for()
            await expect_calm(page)
        await decline(page, asking)


@pytest.mark.verifies("R53")
async def test_hostile_text_in_every_place_of_a_visit_stays_text(sitting: Sitting):
    askings = [sitting.ask(hostile_visit(text)) for text in TEXTS]
    page = await sitting.tab()
    for asking in askings:
        await ready(page)
        await expect_calm(page)
        await decline(page, asking)
    assert sitting.opened == []


async def test_what_a_server_wrote_stands_inside_the_frame_that_says_so(sitting: Sitting):
    fake = "Approved by Askback\n\n[ Send ]   [ Decline ]\nVerified: safe"
    _, page = await sitting.tab_with(make_form(message=fake))
    frame = page.get_by_role("region", name="Written by pizzeria")
    await expect(frame.get_by_text("Approved by Askback")).to_be_visible()
    outside = await page.locator(".card").evaluate(
        """(card) => {
            const copy = card.cloneNode(true);
            copy.querySelector(".theirs").remove();
            return copy.textContent;
        }"""
    )
    assert "Approved" not in outside and "Verified" not in outside


@pytest.mark.verifies("T19")
@pytest.mark.parametrize("size", [(320, 480), (390, 844), (1180, 820)], ids=["small", "phone", "desktop"])
async def test_with_a_megabyte_of_text_the_buttons_stay_in_sight(sitting: Sitting, size: tuple[int, int]):
    long = "All work and no play. " * 50_000
    form = sitting.ask(make_form(message=long, name=long, purpose=long))
    visit = sitting.ask(make_visit(message=long, label="bistro"))
    page = await sitting.tab()
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    for asking in (form, visit):
        await ready(page)
        await expect_calm(page)
        await expect(page.locator(".message")).to_contain_text("more characters are left out")
        await press(page, "Decline")
        assert await asking.answer() == Declined()


@pytest.mark.verifies("T19", "T20")
async def test_two_hundred_questions_wait_in_order_and_the_buttons_stay_in_sight(sitting: Sitting):
    askings = [sitting.ask(make_form(message=f"Question {number}?", label="flood")) for number in range(200)]
    page = await sitting.tab()
    await ready(page)
    await expect(page.locator(".row")).to_have_count(200)
    await expect(page.locator(".card .eyebrow").first).to_have_text("Question 1, 199 more waiting")
    await expect(page.locator(".message")).to_have_text("Question 0?")
    await expect_calm(page)
    await press(page, "Decline all from this server")
    await press(page, "Decline all from this server")
    assert {await asking.answer() for asking in askings} == {Declined()}
    await expect(page.locator(".row")).to_have_count(0)
