"""Writes the pictures in docs/how-to: the desk and the hosted pages, on a phone and on a desktop, in light and in dark.

python -m scripts.screenshots
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from askback.client.desk import DeskPerson
from askback.model.visit import VisitSettled
from scripts import chromium
from tests.client.turns import make_form, make_visit
from tests.support.visit_pages import WHO, Grounds, in_a_browser

PLACE = Path(__file__).parent.parent / "docs" / "how-to"

Scheme = Literal["light", "dark"]
SCREENS: dict[str, ViewportSize] = {
    "phone": {"width": 390, "height": 844},
    "desktop": {"width": 1180, "height": 820},
}
SCALES = {"phone": 1.5, "desktop": 1}
"""As sharp as the page shows them, and no larger."""

Looks = list[tuple[str, Scheme]]
EVERY_LOOK: Looks = [("desktop", "light"), ("desktop", "dark"), ("phone", "light"), ("phone", "dark")]

TABLE: dict[str, Any] = {
    "type": "object",
    "required": ["name", "guests", "day", "seat"],
    "properties": {
        "name": {
            "type": "string",
            "title": "Name",
            "maxLength": 60,
            "description": "We call it out at the door.",
        },
        "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 12, "default": 2},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "seat": {
            "type": "string",
            "title": "Where would you like to sit?",
            "oneOf": [
                {"const": "in", "title": "Inside"},
                {"const": "garden", "title": "In the garden"},
                {"const": "bar", "title": "At the bar"},
            ],
            "default": "in",
        },
        "wishes": {
            "type": "array",
            "title": "Anything we should prepare?",
            "maxItems": 2,
            "items": {"type": "string", "enum": ["High chair", "Candles", "Quiet corner"]},
        },
    },
}


async def fill_in(page: Page) -> None:
    await page.get_by_label("Name").fill("Ada")
    await page.get_by_label("Guests").fill("4")
    await page.get_by_label("Day").fill("2026-11-21")
    await page.get_by_label("Candles").check()
    await page.evaluate("document.activeElement.blur()")


async def show_form(page: Page) -> None:
    await page.get_by_label("Name").fill("Ada")
    await page.get_by_label("Guests").fill("14")
    await page.locator(".problem", has_text="12").wait_for()


async def show_review(page: Page) -> None:
    await fill_in(page)
    await page.get_by_role("button", name="Review").click()
    await page.get_by_role("heading", name="Review before sending").wait_for()


async def show_visit(page: Page) -> None:
    if not await page.locator(".row").first.is_visible():
        await page.locator("#toggle").click()
    await page.locator(".row", has_text="link").click()
    await page.get_by_role("button", name="Open").wait_for()


SCENES: dict[str, Callable[[Page], Awaitable[None]]] = {
    "form": show_form,
    "review": show_review,
    "visit": show_visit,
}

SHOTS: dict[str, Looks] = {
    "form": EVERY_LOOK,
    "review": [("desktop", "light"), ("phone", "dark")],
    "visit": [("desktop", "dark"), ("phone", "light")],
}
"""The form in every light and size; the others where the page shows them."""


@asynccontextmanager
async def busy_desk() -> AsyncGenerator[DeskPerson]:
    """Three questions of two servers."""
    turns = [
        make_form(
            TABLE, message="A table for how many, and when?", purpose="tool reserve", name="Trattoria Server"
        ),
        make_visit(
            "https://pay.bistro-lente.example.com:8443/checkout/7?order=7",
            message="Please pay the deposit on our page.",
            label="bistro",
            host="mcp.bistro.example.com",
            purpose="tool deposit",
        ),
        make_form(label="pizzeria", number=2),
    ]
    async with DeskPerson(opener=lambda _: True) as desk, anyio.create_task_group() as tasks:
        for turn in turns:
            tasks.start_soon(desk.answer, turn)
        yield desk
        tasks.cancel_scope.cancel()


async def picture(browser: Browser, scene: str, screen: str, scheme: Scheme) -> None:
    async with busy_desk() as desk:
        page = await sheet(browser, screen, scheme)
        await page.goto(desk.url)
        await page.locator(".card[data-ready]").wait_for()
        await SCENES[scene](page)
        await page.locator(".card[data-ready]").wait_for()
        await page.screenshot(path=PLACE / "desk" / f"{scene}-{screen}-{scheme}.png")
        await page.context.close()


async def sheet(browser: Browser, screen: str, scheme: Scheme, name: str = "") -> Page:
    """A tab of that size and light; of a browser in which somebody of that name is signed in, if one is."""
    context = await browser.new_context(
        viewport=SCREENS[screen],
        color_scheme=scheme,
        device_scale_factor=SCALES[screen],
        reduced_motion="reduce",
        extra_http_headers={WHO: name} if name else {},
    )
    return await context.new_page()


async def ask_secret(grounds: Grounds) -> str:
    return await grounds.secret(message="To look up the forecast where you are.", keep=30 * 86_400.0)


async def ask_again(grounds: Grounds) -> str:
    return await grounds.secret(problem="The weather service answered: this key has expired.")


async def ask_sign_in(grounds: Grounds) -> str:
    return await grounds.connect("books:read", "books:renew")


async def be_done(grounds: Grounds) -> str:
    link = await grounds.secret()
    await grounds.end(link, VisitSettled())
    return link


async def list_kept(grounds: Grounds) -> str:
    await grounds.keep("weather key")
    await grounds.keep("archive login", until=grounds.clock() + 30 * 86_400)
    return f"{grounds.base}/kept"


PAGES: dict[str, Callable[[Grounds], Awaitable[str]]] = {
    "secret": ask_secret,
    "again": ask_again,
    "connect": ask_sign_in,
    "done": be_done,
    "kept": list_kept,
    "stranger": ask_secret,
}

PAGE_SHOTS: dict[str, Looks] = {
    "secret": EVERY_LOOK,
    "again": [("phone", "light")],
    "connect": [("desktop", "light"), ("phone", "dark")],
    "done": [("phone", "light")],
    "kept": [("desktop", "light")],
    "stranger": [("phone", "light")],
}


async def page_picture(browser: Browser, scene: str, screen: str, scheme: Scheme) -> None:
    async with in_a_browser() as grounds:
        link = await PAGES[scene](grounds)
        page = await sheet(browser, screen, scheme, "eve" if scene == "stranger" else "ada")
        await page.goto(link)
        await page.screenshot(path=PLACE / "pages" / f"{scene}-{screen}-{scheme}.png")
        await page.context.close()


def each(shots: dict[str, Looks]) -> list[tuple[str, str, Scheme]]:
    return [(scene, screen, scheme) for scene, looks in shots.items() for screen, scheme in looks]


async def main() -> None:
    for folder in ("desk", "pages"):
        (PLACE / folder).mkdir(exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium.find(), args=chromium.flags())
        for scene, screen, scheme in each(SHOTS):
            await picture(browser, scene, screen, scheme)
            print(f"desk/{scene}-{screen}-{scheme}.png")
        for scene, screen, scheme in each(PAGE_SHOTS):
            await page_picture(browser, scene, screen, scheme)
            print(f"pages/{scene}-{screen}-{scheme}.png")
        await browser.close()


if __name__ == "__main__":
    anyio.run(main)
