"""server-everything from npm, called by somebody who answers in a browser: `askback call --desk`."""

import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
import anyio.abc
import pytest
from anyio.streams.text import TextReceiveStream
from playwright.async_api import Browser, Page, expect

from tests.end_to_end.outside.everything import (
    DEMANDED,
    DEMANDING,
    FILLED,
    FORM_TOOL,
    LINK,
    LINK_TOOL,
    Visitor,
    reply_in,
)
from tests.support.chromium import browsing
from tests.support.desk import press, ready, review_and_send

pytestmark = [pytest.mark.anyio, pytest.mark.strangers, pytest.mark.browser]

PATIENCE = 30
"""Seconds for the command to say where its desk is, and to end."""


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    return Visitor(tmp_path)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    # For the module: the browser lives as long, and belongs to one event loop.
    return "asyncio"


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncGenerator[Browser]:
    async with browsing() as browser:
        yield browser


Calling = Callable[[str, dict[str, Any]], AbstractAsyncContextManager["Sat"]]


@pytest.fixture
def calling(browser: Browser, visitor: Visitor) -> Calling:
    return lambda tool, arguments: _calling(browser, visitor, tool, arguments)


class Sat:
    """A running `askback call --desk`, and the page on which it is answered."""

    def __init__(self, process: anyio.abc.Process, page: Page) -> None:
        self._process, self.page = process, page

    async def reply(self) -> Any:
        """What the server was sent, from what the command prints at its end."""
        assert self._process.stdout is not None
        with anyio.fail_after(PATIENCE):
            printed = "".join([chunk async for chunk in TextReceiveStream(self._process.stdout)])
            assert await self._process.wait() == 0
        return reply_in(printed)


async def address_of(process: anyio.abc.Process) -> str:
    assert process.stderr is not None
    said = ""
    with anyio.fail_after(PATIENCE):
        async for chunk in TextReceiveStream(process.stderr):
            said += chunk
            if found := re.search(r"(http://\S+)\n", said):
                return found[1]
    raise AssertionError(f"The command ended without a desk:\n{said}")


@asynccontextmanager
async def _calling(
    browser: Browser, visitor: Visitor, tool: str, arguments: dict[str, Any]
) -> AsyncGenerator[Sat]:
    command = visitor.call(tool, arguments, "--desk", "--no-open")
    environment = os.environ | visitor.environment
    async with (
        await anyio.open_process(
            command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=environment
        ) as process,
        await browser.new_page() as page,
    ):
        try:
            await page.goto(await address_of(process))
            yield Sat(process, page)
        finally:
            if process.returncode is None:
                process.kill()


@pytest.mark.verifies("R47", "R49", "R55", "R57", "R58")
async def test_all_thirteen_fields_of_its_form_are_typed_and_chosen(calling: Calling):
    typed: dict[str, Any] = {
        "String": FILLED["name"],
        "String with email format": FILLED["email"],
        "String with uri format": FILLED["homepage"],
        "String with date format": FILLED["birthdate"],
        "Integer": str(FILLED["integer"]),
    }
    chosen = {
        "Boolean": "Yes",
        "Titled Single Select Enum": "Wonder Woman",
        "Legacy Titled Single Select Enum": "Dogs",
    }
    async with calling(FORM_TOOL, {}) as sat:
        card = await ready(sat.page)
        await expect(card.get_by_role("heading", name="everything asks")).to_be_visible()
        for label, text in typed.items():
            await card.get_by_label(label, exact=True).fill(text)
        for group, option in chosen.items():
            await card.get_by_role("group", name=group, exact=True).get_by_label(option, exact=True).check()
        several = card.get_by_role("group", name="Untitled Multiple Select Enum")
        await several.get_by_label("Guitar").uncheck()
        for option in ("Piano", "Bass"):
            await several.get_by_label(option).check()
        await review_and_send(sat.page)
        assert await sat.reply() == {"action": "accept", "content": FILLED}


@pytest.mark.verifies("R48", "R52")
@pytest.mark.parametrize(
    ("tool", "arguments", "button"),
    [(FORM_TOOL, {}, "Decline"), (LINK_TOOL, LINK, "Cancel")],
    ids=["form", "link"],
)
async def test_no_is_one_button_and_not_the_other(
    calling: Calling, visitor: Visitor, tool: str, arguments: dict[str, Any], button: str
):
    async with calling(tool, arguments) as sat:
        await press(sat.page, button)
        assert await sat.reply() == {"action": button.lower()}
    assert visitor.opened == []


@pytest.mark.verifies("R47", "R59", "R60", "R61", "R63", "R67")
async def test_its_link_is_shown_whole_and_opens_in_the_persons_browser(calling: Calling, visitor: Visitor):
    async with calling(LINK_TOOL, LINK) as sat:
        await ready(sat.page)
        await expect(sat.page.locator(".url")).to_have_text(LINK["url"])
        assert visitor.opened == []
        await press(sat.page, "Open in the browser")
        assert await sat.reply() == {"action": "accept"}
    assert visitor.opened == [LINK["url"]]


@pytest.mark.verifies("R66", "R79")
async def test_its_demanded_visit_is_made_waited_for_and_the_call_made_again(
    calling: Calling, visitor: Visitor
):
    async with calling(LINK_TOOL, DEMANDING) as sat:
        await ready(sat.page)
        await expect(sat.page.locator(".url")).to_have_text(DEMANDED)
        await press(sat.page, "Open in the browser")
        await press(sat.page, "Done")
        await expect(sat.page.locator(".url")).to_have_text(LINK["url"])
        await press(sat.page, "Open in the browser")
        assert await sat.reply() == {"action": "accept"}
    assert visitor.opened == [DEMANDED, LINK["url"]]
