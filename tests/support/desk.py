"""Somebody who sits at a desk in a real browser. Whatever happens there, the page asks nobody but the desk itself."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.abc
from playwright.async_api import Browser, BrowserContext, Locator, Page, expect
from playwright.async_api import TimeoutError as NothingCame

from askback.answers import Answer
from askback.client.consent import Verdict
from askback.client.desk import DeskPerson
from askback.client.person import Turn, VisitAsked, VisitReply

PATIENCE = 15
"""Seconds for anything that must happen: much more than it takes, much less than a test may."""


HURRY = """{
  const later = window.setTimeout.bind(window);
  window.setTimeout = (act, pause = 0, ...rest) => later(act, pause / 10, ...rest);
}"""
"""The pauses of the page are for people; here they take a tenth of their time."""


class Asking:
    """A question that was put; its answer as soon as there is one."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.scope = anyio.CancelScope()
        self._answer: Answer[Any] | Exception | None = None
        self._done = anyio.Event()

    @property
    def is_open(self) -> bool:
        return not self._done.is_set()

    async def run(self, desk: DeskPerson) -> None:
        try:
            with self.scope:
                self._answer = await desk.answer(self.turn)
        except Exception as error:
            self._answer = error
        finally:
            self._done.set()

    async def answer(self) -> Answer[Any] | None:
        with anyio.fail_after(PATIENCE):
            await self._done.wait()
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class Waiting:
    """A visit that is under way."""

    def __init__(self, asked: VisitAsked) -> None:
        self.asked, self.finished = asked, anyio.Event()
        self._word: VisitReply | None = None
        self._done = anyio.Event()

    async def run(self, desk: DeskPerson) -> None:
        self._word = await desk.wait(self.asked, self.finished)
        self._done.set()

    async def word(self) -> VisitReply | None:
        with anyio.fail_after(PATIENCE):
            await self._done.wait()
        return self._word


class Sitting:
    """The desk, the questions put on it, and the tabs that show it."""

    def __init__(self, desk: DeskPerson, context: BrowserContext, tasks: anyio.abc.TaskGroup) -> None:
        self.desk, self.context = desk, context
        self.opened: list[Verdict] = []
        self.can_open = True
        self.seconds = 0.0
        """On the clock of the desk, which stands still until it is moved."""
        self.addresses: set[str] = set()
        self.upsets: list[str] = []
        """Dialogs, errors of the page, and what it logged that it should not."""
        self.tasks = tasks

    def open_browser(self, verdict: Verdict) -> bool:
        self.opened.append(verdict)
        return self.can_open

    def ask(self, turn: Turn) -> Asking:
        asking = Asking(turn)
        self.tasks.start_soon(asking.run, self.desk)
        return asking

    def wait(self, turn: Turn) -> Waiting:
        assert isinstance(turn.asked, VisitAsked)
        waiting = Waiting(turn.asked)
        self.tasks.start_soon(waiting.run, self.desk)
        return waiting

    async def tab(self, url: str | None = None) -> Page:
        """One that shows the desk, by its own link or by another."""
        page = await self.context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("dialog", lambda dialog: self.upsets.append(f"dialog: {dialog.message}"))
        page.on("pageerror", lambda error: self.upsets.append(f"error: {error}"))
        page.on("console", lambda message: self.upsets.append(f"console: {message.text}"))
        await page.goto(url or self.desk.url)
        return page

    def expect_nothing_odd(self) -> None:
        own = urlsplit(self.desk.url).netloc
        assert {urlsplit(address).netloc for address in self.addresses} <= {own}
        assert self.upsets == []

    async def tab_with(self, turn: Turn) -> tuple[Asking, Page]:
        """A question and a tab in which it can be answered."""
        asking = self.ask(turn)
        page = await self.tab()
        await ready(page)
        return asking, page


@asynccontextmanager
async def sit_down(browser: Browser, **options: Any) -> AsyncGenerator[Sitting]:
    context = await browser.new_context(reduced_motion="reduce", **options)
    await context.add_init_script(HURRY)
    found: list[Sitting] = []
    async with (
        DeskPerson(
            opener=lambda verdict: found[0].open_browser(verdict), clock=lambda: found[0].seconds
        ) as desk,
        anyio.create_task_group() as tasks,
    ):
        sitting = Sitting(desk, context, tasks)
        found.append(sitting)
        context.on("request", lambda request: sitting.addresses.add(request.url))
        yield sitting
        await context.close()
        tasks.cancel_scope.cancel()
        sitting.expect_nothing_odd()


WHAT_IT_SHOWS = "`${location.pathname} (${document.visibilityState}): ${document.body.innerText}`"


async def ready(page: Page) -> Locator:
    """The card, as soon as it takes clicks. A tab that nobody looks at draws little, and so takes none."""
    await page.bring_to_front()
    card = page.locator(".card[data-ready]")
    try:
        await card.wait_for()
    except NothingCame as error:
        error.add_note(await page.evaluate(WHAT_IT_SHOWS))
        raise
    return card


async def turn_to(page: Page, row: Locator) -> Locator:
    """The card of a row, once it is the one that is open and takes clicks."""
    await row.click()
    await expect(row).to_have_attribute("aria-current", "true", timeout=PATIENCE * 1000)
    return await ready(page)


async def press(page: Page, name: str) -> None:
    """Click a button of the card, once it takes clicks."""
    card = await ready(page)
    await card.get_by_role("button", name=name, exact=True).click()


async def review_and_send(page: Page) -> None:
    await press(page, "Review")
    await page.get_by_role("heading", name="Review before sending").wait_for()
    await press(page, "Send")
