"""The browser that tests drive: this machine's own Chromium, as `make browser` finds or installs it."""

import os
import shlex
import signal
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from scripts.chromium import ADVICE, find, flags
from scripts.services.watcher import watch
from tests.support.omission import leave_out


def chromium() -> str:
    """Its path; a test on a machine without one is left out. Start it with `scripts.chromium.flags()`."""
    return find() or leave_out(ADVICE)


@asynccontextmanager
async def browsing() -> AsyncGenerator[Browser]:
    """A browser for the length of the block."""
    path = chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=flags())
        yield browser
        await browser.close()


DRAWING = (
    "--disable-gpu",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
)
"""A window that nobody sees draws all the same, as Playwright starts its own."""


@contextmanager
def browser_program(folder: Path) -> Generator[Path]:
    """Chromium as the BROWSER of a person, with its profile in `folder / "profile"`; it ends with the block."""
    words = [chromium(), "--headless=new", "--remote-debugging-port=0", "--no-first-run", *flags(), *DRAWING]
    with detached_program(folder, [*words, f"--user-data-dir={folder / 'profile'}"]) as program:
        yield program


@contextmanager
def detached_program(folder: Path, words: Sequence[str]) -> Generator[Path]:
    """A script that runs these words, to be started in a session of its own. It ends with the block, or with this
    process if that is killed: the watcher goes by working folders, so the script works in `folder / "profile"`."""
    home, program, number = folder / "profile", folder / "browser", folder / "number"
    home.mkdir()
    watch(home)
    place, pid = shlex.quote(str(home)), shlex.quote(str(number))
    program.write_text(f'#!/bin/sh\ncd {place} || exit 1\necho $$ >{pid}\nexec {shlex.join(words)} "$@"\n')
    program.chmod(0o755)
    try:
        yield program
    finally:
        if number.exists():
            # It may be over, or just about to write its number: then the watcher ends it.
            with suppress(ProcessLookupError, ValueError):
                os.killpg(int(number.read_text()), signal.SIGKILL)


@pytest.fixture(scope="package")
async def browser(anyio_backend: str) -> AsyncGenerator[Browser]:
    """One for all tests of a folder whose conftest takes this over, and no longer: it holds their event loop."""
    async with browsing() as browser:
        yield browser
