"""Another user of the machine does not answer in the person's place: no link and no code stands in a command line."""

import html
import logging
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import httpx2
import pytest
from anyio import to_thread
from playwright.async_api import Page, async_playwright

from askback.answers import Accepted, Answer
from askback.client import Driver, Turn, VisitAsked
from askback.client.consent import browser as browser_module
from askback.client.consent import judge, open_in_browser
from askback.client.consent.browser import remove_handover, remove_later, write_handover
from askback.client.desk import DeskPerson
from tests.client.consent.follower import link_in
from tests.client.consent.other_user import OtherUser, other_user, until
from tests.client.test_pages import KEY, PATIENCE, WELL, Call, Guest, weather
from tests.client.turns import make_form
from tests.support.chromium import browser_program, detached_program
from tests.support.defence import with_and_without
from tests.support.desk import Asking, review_and_send
from tests.support.paths import ROOT
from tests.support.secret_shop.visitor import SAVED, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("T29")]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*browser_module.SCREENS, *browser_module.WINDOWS_BELOW):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(browser_module, "INTEROP", ())
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path / "home"))


@pytest.fixture
def slow_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """One that takes its time, so that somebody else can be first."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with detached_program(tmp_path, ["sh", "-c", f"read -r _ <{shlex.quote(str(gate))}", "sh"]) as program:
        monkeypatch.setenv("BROWSER", str(program))
        monkeypatch.setattr(browser_module, "START_TIMEOUT", 0.01)
        yield


def hand_over_the_link_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the defence out."""
    ours = browser_module.commands

    def commands(href: str, page: str, environment: Mapping[str, str]) -> Any:
        return ours(href, href, environment)

    monkeypatch.setattr(browser_module, "commands", commands)


def link_among(seen: set[str], sign: str) -> str | None:
    return next((line for line in seen if line.startswith("http://127.0.0.1") and sign in line), None)


def require_that_the_file_is_closed(other: OtherUser, seen: set[str]) -> None:
    files = [Path(unquote(urlsplit(line).path)) for line in seen if browser_module.HANDOVER_PREFIX in line]
    assert files, "The file's name is there for all to see."
    if os.geteuid() == 0:
        assert not any(other.can_read(file) for file in files)


@with_and_without
@pytest.mark.usefixtures("slow_browser")
async def test_nobody_else_gets_the_token_of_the_desk(monkeypatch: pytest.MonkeyPatch, is_defended: bool):
    if not is_defended:
        hand_over_the_link_itself(monkeypatch)
    with other_user() as other:
        async with DeskPerson() as desk, httpx2.AsyncClient(trust_env=False) as attacker:
            assert await to_thread.run_sync(open_in_browser, judge(desk.opening_url()))
            seen = await other.look()
            link = link_among(seen, "once=")
            assert (link is None) is is_defended
            if link is None:
                require_that_the_file_is_closed(other, seen)
                return
            address, _, code = link.partition("#once=")
            said = await attacker.post(
                f"{address}token", json={"code": code}, headers={"origin": address.rstrip("/")}
            )
            assert said.json()["token"] == urlsplit(desk.url).fragment


class Opening(Guest):
    """Consents, and opens the page in the browser of this machine."""

    async def answer(self, turn: Turn) -> Answer[Any]:
        answer = await super().answer(turn)
        if isinstance(turn.asked, VisitAsked) and isinstance(answer, Accepted):
            assert await to_thread.run_sync(open_in_browser, turn.asked.verdict)
        return answer


@with_and_without
@pytest.mark.usefixtures("slow_browser")
async def test_nobody_else_types_into_the_page_of_a_server_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, is_defended: bool
):
    if not is_defended:
        hand_over_the_link_itself(monkeypatch)
    mcp: Any = weather()[0]
    person = Opening()
    with anyio.fail_after(PATIENCE), other_user() as other:
        async with Driver(mcp, person) as driver, anyio.create_task_group() as tasks, Visitor() as attacker:
            call = Call(driver, "forecast", tasks)
            own = await person.page()
            seen = await other.look()
            link = link_among(seen, "/visit/")
            assert (link is None) is is_defended
            if link is None:
                require_that_the_file_is_closed(other, seen)
            assert await attacker.type(link or own, KEY) == SAVED
            assert await call.outcome() == WELL


def require_that_none_is_seen(seen: set[str], log: str, *secrets: str) -> None:
    """Neither in the list of programs nor in our log."""
    assert any(browser_module.HANDOVER_PREFIX in line for line in seen)
    assert not any(secret in line for secret in secrets for line in {*seen, log})


@asynccontextmanager
async def started_browser(folder: Path, begins: str) -> AsyncGenerator[Page]:
    """The tab of the Chromium that was started as BROWSER, once it is where it was led.

    Playwright connects only then: the way from a file to a server changes the renderer process, and a connection that
    is made in the middle of that may watch the old one for ever.
    """
    place = folder / "profile" / "DevToolsActivePort"
    await until(lambda: place.exists() and "\n" in place.read_text())
    address = f"http://127.0.0.1:{place.read_text().split()[0]}"
    await arrival(address, begins)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(address)
        pages = [page for context in browser.contexts for page in context.pages]
        yield next(page for page in pages if page.url.startswith(begins))
        await browser.close()


async def arrival(address: str, begins: str) -> None:
    """Wait until a tab shows what it was led to."""
    async with httpx2.AsyncClient(trust_env=False) as client:
        with anyio.fail_after(PATIENCE):
            while True:
                tabs = (await client.get(f"{address}/json/list")).json()
                if any(tab["type"] == "page" and tab["url"].startswith(begins) for tab in tabs):
                    return
                await anyio.sleep(0.05)


@pytest.fixture
def real_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Chromium as BROWSER, in a profile of its own; it ends with the test, or with a run that is killed."""
    with browser_program(tmp_path) as program:
        monkeypatch.setenv("BROWSER", str(program))
        monkeypatch.setattr(browser_module, "START_TIMEOUT", 0.01)
        yield tmp_path


@pytest.mark.browser
@pytest.mark.slow
async def test_a_real_browser_is_led_to_the_desk_and_nothing_of_it_can_be_seen(
    real_browser: Path, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.DEBUG, "askback"), other_user() as other:
        async with DeskPerson() as desk, anyio.create_task_group() as tasks:
            asking = Asking(make_form())
            tasks.start_soon(asking.run, desk)
            link = desk.opening_url()
            assert await to_thread.run_sync(open_in_browser, judge(link))
            async with started_browser(real_browser, desk.url.partition("#")[0]) as page:
                await review_and_send(page)
                assert await asking.answer() == Accepted({"drink": "none", "tip": 0})
                secrets = (link.partition("once=")[2], urlsplit(desk.url).fragment)
                require_that_none_is_seen(await other.look(), caplog.text, *secrets)


@pytest.mark.browser
@pytest.mark.slow
async def test_a_real_browser_is_led_to_the_page_of_a_server_on_this_machine(
    real_browser: Path, caplog: pytest.LogCaptureFixture
):
    mcp: Any = weather()[0]
    person = Opening()
    caplog.set_level(logging.DEBUG, "askback")
    with anyio.fail_after(PATIENCE), other_user() as other:
        async with Driver(mcp, person) as driver, anyio.create_task_group() as tasks:
            call = Call(driver, "forecast", tasks)
            link = await person.page()
            async with started_browser(real_browser, link.partition("/visit/")[0]) as page:
                await page.get_by_label("weather key").fill(KEY)
                await page.get_by_role("button", name="Save", exact=True).click()
                await page.get_by_role("heading", name=SAVED).wait_for()
                launch, _, id = link.split("/")[-3:]
                require_that_none_is_seen(await other.look(), caplog.text, launch, id)
            assert await call.outcome() == WELL


# The file itself


@pytest.fixture
def runtime(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(folder)}


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_the_file_is_for_its_owner_alone_whatever_the_mask(runtime: dict[str, str], mask: int):
    former = os.umask(mask)
    try:
        page = write_handover("https://example.com/", runtime)
    finally:
        os.umask(former)
    assert (mode_of(page), mode_of(page.parent)) == (0o600, 0o700)
    assert page.parent.parent == Path(runtime["XDG_RUNTIME_DIR"])
    remove_handover(page)
    assert not page.parent.exists()


HREFS = [
    "http://127.0.0.1:8000/#once=a-_b",
    "https://example.com/?a=1&b=%22%3E&c=;'",
    "https://example.com/'quoted'?q=<x>",
]


@pytest.mark.verifies("T16", "R60")
@pytest.mark.parametrize("url", HREFS)
def test_the_file_leads_to_the_link_that_was_shown_and_holds_nothing_else(runtime: dict[str, str], url: str):
    href = judge(url).href
    page = write_handover(href, runtime)
    assert link_in(page.as_uri()) == href
    links = re.findall(r'(?:href="|url=)([^"]*)"', page.read_text())
    assert [html.unescape(link) for link in links] == [href, href]
    remove_handover(page)


def test_a_file_that_no_browser_took_is_removed_at_once(
    runtime: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime["XDG_RUNTIME_DIR"])
    monkeypatch.setenv("BROWSER", "/nowhere/browser")
    assert open_in_browser(judge("https://example.com/")) is False
    assert os.listdir(runtime["XDG_RUNTIME_DIR"]) == []


@pytest.mark.usefixtures("slow_browser")
async def test_a_file_that_was_taken_is_removed_soon(
    runtime: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime["XDG_RUNTIME_DIR"])
    monkeypatch.setattr(browser_module, "HANDOVER_SECONDS", 0.05)
    assert open_in_browser(judge("https://example.com/")) is True
    await until(lambda: not os.listdir(runtime["XDG_RUNTIME_DIR"]))


COLD = """
import os, sys
if os.fork():
    os._exit(0)  # as xdg-open: it returns at once, and the browser has yet to start
os.setsid()
sys.path.insert(0, {root!r})
from tests.client.consent.follower import link_in
open({gate!r}).read()
try:
    led = link_in(sys.argv[1])
except OSError as error:
    led = repr(error)
with open({note!r}, "w") as note:
    note.write(led)
"""
OPENS = (
    "from askback.client.consent import browser, judge, open_in_browser\n"
    "browser.HANDOVER_SECONDS = {life}\n"
    "assert open_in_browser(judge('https://a.example/'))"
)


def remove_when_the_program_ends() -> str:
    """Take the defence out: what a program that ends must not do."""
    return "import atexit, os, shutil; atexit.register(shutil.rmtree, os.environ['XDG_RUNTIME_DIR'])\n"


@with_and_without
async def test_a_browser_that_starts_slowly_finds_the_file_though_the_program_has_ended(
    tmp_path: Path, runtime: dict[str, str], is_defended: bool
):
    gate, note, program = tmp_path / "gate", tmp_path / "note", tmp_path / "cold"
    os.mkfifo(gate)
    os.mkfifo(note)
    program.write_text(COLD.format(root=str(ROOT), gate=str(gate), note=str(note)))
    code = ("" if is_defended else remove_when_the_program_ends()) + OPENS.format(
        life=browser_module.HANDOVER_SECONDS
    )
    environment = {**os.environ, **runtime, "BROWSER": shlex.join([sys.executable, str(program)])}
    await anyio.run_process([sys.executable, "-c", code], env=environment)
    with anyio.fail_after(PATIENCE):
        await anyio.Path(gate).write_text("")
        led = await anyio.Path(note).read_text()
    assert (led == "https://a.example/") is is_defended


async def test_a_file_that_was_taken_is_removed_whatever_the_path(
    tmp_path: Path, runtime: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser_module, "HANDOVER_SECONDS", 0.05)
    remove_later(write_handover("https://example.com/", runtime))
    await until(lambda: not os.listdir(runtime["XDG_RUNTIME_DIR"]))


async def test_a_file_that_was_taken_is_removed_also_after_the_program_has_ended(runtime: dict[str, str]):
    environment = {**os.environ, **runtime, "BROWSER": "true"}
    await anyio.run_process([sys.executable, "-c", OPENS.format(life=0.05)], env=environment)
    await until(lambda: not os.listdir(runtime["XDG_RUNTIME_DIR"]))


def test_what_a_killed_program_left_behind_is_swept_up(runtime: dict[str, str]):
    base = Path(runtime["XDG_RUNTIME_DIR"])
    old, young = (
        base / f"{browser_module.HANDOVER_PREFIX}old",
        base / f"{browser_module.HANDOVER_PREFIX}young",
    )
    for folder in (old, young):
        folder.mkdir()
        (folder / "open.html").write_text("")
    os.utime(old, (0, time.time() - browser_module.MAX_HANDOVER_AGE_SECONDS - 1))
    remove_handover(write_handover("https://example.com/", runtime))
    assert os.listdir(base) == [young.name]


def test_where_browsers_may_be_snaps_the_file_lies_in_the_open_home(
    tmp_path: Path, runtime: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(browser_module, "SNAPS", tmp_path)
    page = write_handover("https://example.com/", runtime)
    assert page.parent.parent == tmp_path
    assert not page.parent.name.startswith(".")
    assert (mode_of(page), mode_of(page.parent)) == (0o600, 0o700)
    remove_handover(page)


def test_a_folder_in_which_others_can_exchange_files_is_passed_over(tmp_path: Path, runtime: dict[str, str]):
    Path(runtime["XDG_RUNTIME_DIR"]).chmod(0o777)
    page = write_handover("https://example.com/", runtime)
    assert page.parent.parent == Path(tempfile.gettempdir())
    remove_handover(page)


def test_a_folder_with_a_relative_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "run")
    monkeypatch.setenv("BROWSER", "true")
    assert open_in_browser(judge("https://example.com/")) is True
    assert os.listdir(tmp_path / "run") == []


def test_a_folder_in_which_the_file_cannot_be_written_is_passed_over_and_left_clean(tmp_path: Path):
    base = tmp_path
    # Of at most 4,095 characters, the path of a folder in it needs 4,092, and the path of a file in that folder 4,102.
    while (room := 4_070 - len(str(base)) - 1) > 0:
        base /= "x" * (room if room <= 200 else 199)
    base.mkdir(parents=True, mode=0o700)
    page = write_handover("https://example.com/", {"XDG_RUNTIME_DIR": str(base)})
    assert page.parent.parent == Path(tempfile.gettempdir())
    assert os.listdir(base) == []
    remove_handover(page)


@pytest.mark.parametrize("home", ["project", "~", "."])
def test_a_home_that_is_no_whole_path_is_passed_over(
    tmp_path: Path, runtime: dict[str, str], monkeypatch: pytest.MonkeyPatch, home: str
):
    monkeypatch.setattr(browser_module, "SNAPS", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", home)
    page = write_handover("https://example.com/", runtime)
    assert page.parent.parent == Path(runtime["XDG_RUNTIME_DIR"])
    remove_handover(page)


def test_without_a_folder_nothing_is_started_and_the_link_is_left_to_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("BROWSER", sys.executable)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert open_in_browser(judge("http://127.0.0.1:9/#once=s3cret")) is False
    assert "No file can be made" in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize(
    "choice", ["flatpak run org.mozilla.firefox", "/vscode/bin/helpers/browser.sh", "flatpak run x %s"]
)
def test_a_browser_that_cannot_see_the_file_is_not_started_with_it(choice: str):
    page = "file:///run/user/0/open.html"
    assert (
        list(browser_module.commands("https://example.com/", page, {"BROWSER": choice}, system="linux")) == []
    )


def test_a_program_of_windows_gets_the_link_since_it_cannot_see_the_file():
    href, page = "https://example.com/", "file:///run/user/0/open.html"
    environment = {"BROWSER": "/mnt/c/chrome.exe", "WSL_DISTRO_NAME": "Debian"}
    found = list(browser_module.commands(href, page, environment, system="linux"))
    assert found[0] == ["/mnt/c/chrome.exe", href]
    assert all(command[-1] == href for command in found)
