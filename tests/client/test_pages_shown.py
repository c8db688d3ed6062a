"""Our own pages as a person of ours comes to them: from a terminal, and from the desk in a browser."""

import json
import shlex
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from askback.client import Driver
from tests.client.consent.follower import FOLLOWER
from tests.client.test_pages import KEY, PATIENCE, WAYS, WELL, Call, weather
from tests.support.chromium import browsing
from tests.support.desk import press, sit_down
from tests.support.secret_shop.shop import Plan
from tests.support.secret_shop.visitor import SAVED, Visitor
from tests.support.terminal_emulator import Emulator

pytestmark = pytest.mark.slow

At = Callable[[str], tuple[Emulator, Path]]


@pytest.fixture
def at_terminal(tmp_path: Path) -> Generator[At]:
    """`askback call` at a shop, and a browser that only writes down where it was sent."""
    terminals: list[Emulator] = []
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    follow = shlex.join([sys.executable, FOLLOWER, str(opened)])
    browser.write_text(f'#!/bin/sh\n{follow} "$1"\n')
    browser.chmod(0o755)

    def call(way: str) -> tuple[Emulator, Path]:
        revision, demands = WAYS[way]
        command, *words = Plan(folder=str(tmp_path), demand_visits=demands).command
        home = {"ASKBACK_HOME": str(tmp_path / "home")}
        servers = {"mcpServers": {"shop": {"command": command, "args": words, "env": home}}}
        catalogue = tmp_path / "mcp.json"
        catalogue.write_text(json.dumps(servers))
        program = [sys.executable, "-m", "askback.cli", "call", f"--config={catalogue}"]
        program += [f"--revision={revision}", "shop", "use", "how=well"]
        environment = {"BROWSER": str(browser), "XDG_STATE_HOME": str(tmp_path)}
        terminals.append(Emulator(program, columns=120, rows=40, environment=environment))
        return terminals[-1], opened

    yield call
    for terminal in terminals:
        terminal.close()


async def typed(url: str) -> str:
    async with Visitor() as visitor:
        return await visitor.type(url, KEY)


@pytest.mark.verifies("R61", "R66")
@pytest.mark.parametrize("way", ["in place", "in rounds"])
def test_at_a_terminal_the_link_is_opened_and_the_call_goes_on_when_the_page_is_finished(
    way: str, at_terminal: At
):
    terminal, opened = at_terminal(way)
    terminal.until("shop")  # it is starting: on a busy machine that alone takes long
    terminal.ready(
        "who    shop", "where  [127.0.0.1]", "The page is on this very computer", "why    tool use"
    )
    terminal.press("open")
    terminal.until_that(lambda: opened.exists() and opened.read_text() != "", "the browser to be sent there")
    if way == "demanded":
        terminal.ready(
            "Waiting for shop", "shop goes on when you say that you are done, or when it learns that itself"
        )
        assert "goes on by itself" not in terminal.text
    else:
        terminal.until("opened in the browser", "The call goes on by itself when", "Ctrl-C gives it up.")
    # The program ends with its only call, and still shows the page that says that the key was taken.
    assert anyio.run(typed, opened.read_text().strip()) == SAVED
    terminal.until(WELL)
    assert KEY not in terminal.text


@pytest.mark.browser
@pytest.mark.parametrize("way", ["demanded"])
async def test_from_the_desk_a_key_is_typed_in_the_next_tab(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    revision, demands = WAYS[way]
    mcp: Any = weather(demand_visits=demands)[0]
    with anyio.fail_after(PATIENCE):
        async with (
            browsing() as browser,
            sit_down(browser) as sitting,
            Driver(mcp, sitting.desk, revision=revision) as driver,
        ):
            call = Call(driver, "forecast", sitting.tasks)
            await press(await sitting.tab(), "Open in the browser")
            while not sitting.opened:
                await anyio.lowlevel.checkpoint()
            page = await browser.new_page()
            await page.goto(sitting.opened[0].href)
            await page.get_by_label("weather key").fill(KEY)
            await page.get_by_role("button", name="Save", exact=True).click()
            await page.get_by_role("heading", name=SAVED).wait_for()
            assert await call.outcome() == WELL
            await page.close()
