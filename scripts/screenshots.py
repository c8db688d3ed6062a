"""Writes the pictures of docs/how-to/desk.md: the desk on a phone and on a desktop, in light and in dark.

python -m scripts.screenshots
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from askback.client.desk import DeskPerson
from scripts import chromium
from tests.client.turns import make_form, make_visit

FOLDER = Path(__file__).parent.parent / "docs" / "how-to" / "desk"

Scheme = Literal["light", "dark"]
SCREENS: dict[str, ViewportSize] = {
    "phone": {"width": 390, "height": 844},
    "desktop": {"width": 1180, "height": 820},
}
SCALES = {"phone": 1.5, "desktop": 1}
"""As sharp as the page shows them, and no larger."""

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

SHOTS: list[tuple[str, str, Scheme]] = [
    ("form", "desktop", "light"),
    ("form", "desktop", "dark"),
    ("form", "phone", "light"),
    ("form", "phone", "dark"),
    ("review", "desktop", "light"),
    ("review", "phone", "dark"),
    ("visit", "desktop", "dark"),
    ("visit", "phone", "light"),
]
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
        context = await browser.new_context(
            viewport=SCREENS[screen],
            color_scheme=scheme,
            device_scale_factor=SCALES[screen],
            reduced_motion="reduce",
        )
        page = await context.new_page()
        await page.goto(desk.url)
        await page.locator(".card[data-ready]").wait_for()
        await SCENES[scene](page)
        await page.locator(".card[data-ready]").wait_for()
        await page.screenshot(path=FOLDER / f"{scene}-{screen}-{scheme}.png")
        await context.close()


async def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium.find(), args=chromium.flags())
        for scene, screen, scheme in SHOTS:
            await picture(browser, scene, screen, scheme)
            print(f"{scene}-{screen}-{scheme}.png")
        await browser.close()


if __name__ == "__main__":
    anyio.run(main)
