"""What happens when a person has consented: a real program is started as the browser, and writes down what it got."""

import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from askback.client.consent import Verdict, judge, open_in_browser
from askback.client.consent import browser as browser_module
from askback.client.consent.browser import commands
from tests.client.consent.good import ORDINARY, WARNED
from tests.client.consent.hostile import HOSTILE
from tests.support.paths import ROOT

BROWSER = """#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import json, os, sys
sys.path.insert(0, {tests!r})
from tests.client.consent.follower import link_in
led = [link_in(argument) for argument in sys.argv[1:]]
streams = [os.readlink(f"/proc/self/fd/{{fd}}") for fd in (0, 1, 2)]
seen = {{"arguments": sys.argv[1:], "led": led, "session": os.getsid(0), "streams": streams}}
with open({record!r}, "a") as file:
    file.write(json.dumps(seen) + "\\n")
{then}
"""
"""A shell hands it to Python: behind `#!` a path may neither be long nor hold a blank."""


class Browser:
    """A program that can be named in BROWSER, and what it was started with."""

    def __init__(self, folder: Path, name: str = "browser", then: str = "") -> None:
        self.program = folder / name
        self.record = folder / f"{name}.record"
        tests = str(ROOT)
        self.program.write_text(
            BROWSER.format(python=sys.executable, tests=tests, record=str(self.record), then=then)
        )
        self.program.chmod(0o755)

    @property
    def starts(self) -> list[dict[str, object]]:
        return (
            [json.loads(line) for line in self.record.read_text().splitlines()]
            if self.record.exists()
            else []
        )

    @property
    def opened(self) -> list[object]:
        """Its arguments, with the link in the place of the file that led to it."""
        return [start["led"] for start in self.starts]


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", *browser_module.SCREENS, *browser_module.WINDOWS_BELOW):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(browser_module, "INTEROP", ())


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Browser:
    browser = Browser(tmp_path)
    monkeypatch.setenv("BROWSER", str(browser.program))
    return browser


@pytest.mark.verifies("R61", "R68", "T08", "T09")
def test_no_hostile_link_opens(browser: Browser):
    for url in (url for urls in HOSTILE.values() for url in urls):
        assert open_in_browser(judge(url)) is False
    assert browser.starts == []


@pytest.mark.verifies("T08")
@pytest.mark.parametrize(
    "href",
    [
        "--help",
        "-a",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://a@b.example/",
        "http://b.example/",
        "",
    ],
)
def test_a_verdict_that_somebody_made_up_opens_nothing(browser: Browser, href: str):
    assert open_in_browser(Verdict(refusal=None, href=href)) is False
    assert browser.starts == []


@pytest.mark.parametrize("url", [ORDINARY[0], ORDINARY[2], ORDINARY[57], next(iter(WARNED))])
def test_a_good_link_opens_as_it_was_shown(browser: Browser, url: str):
    verdict = judge(url)
    assert open_in_browser(verdict) is True
    assert browser.opened == [[verdict.href]]


@pytest.mark.verifies("R69")
def test_no_shell_reads_the_link(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    url = "https://example.com/?a=$(touch%09x)&b=;touch${IFS}y;&c=|touch${IFS}z&d='*'&e=%s%20%d"
    assert open_in_browser(judge(url)) is True
    assert browser.opened == [
        ["https://example.com/?a=$(touch%09x)&b=;touch${IFS}y;&c=|touch${IFS}z&d=%27*%27&e=%s%20%d"]
    ]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["browser", "browser.record"]


@pytest.mark.verifies("R63")
def test_the_browser_is_a_program_of_its_own_that_the_client_neither_reads_nor_feeds(browser: Browser):
    open_in_browser(judge("https://example.com/"))
    (start,) = browser.starts
    assert start["session"] != os.getsid(0)
    assert start["streams"] == ["/dev/null"] * 3


def test_a_browser_in_a_folder_with_a_blank_and_a_letter_outside_ascii_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "Müllers Programme"
    folder.mkdir()
    browser, shell = Browser(folder), Browser(folder, "tmux")
    monkeypatch.setenv("BROWSER", f"{shell.program}:{browser.program}")
    assert open_in_browser(judge("https://example.com")) is True
    assert (browser.opened, shell.opened) == ([["https://example.com/"]], [])


@pytest.mark.verifies("T30")
def test_no_file_of_the_current_folder_is_taken_for_the_command_that_browser_names(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "browser --profile ~").mkdir()
    planted = Browser(tmp_path / "browser --profile ~", "work")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("BROWSER", "browser --profile ~/work")
    assert open_in_browser(judge("https://example.com")) is True
    assert browser.opened == [["--profile", "~/work", "https://example.com/"]]
    assert planted.starts == []


@pytest.mark.parametrize(
    ("choice", "arguments"),
    [
        ("{program} --new-window", ["--new-window", "https://example.com/"]),
        ("{program} --url=%s --private", ["--url=https://example.com/", "--private"]),
        ("{program} %s &", ["https://example.com/"]),
        ("/nowhere/browser:{program}", ["https://example.com/"]),
        ("'unbalanced:{program}", ["https://example.com/"]),
        ("lynx:www-browser -x:{program}", ["https://example.com/"]),
    ],
)
def test_the_persons_own_choice_of_browser_is_taken(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, choice: str, arguments: list[str]
):
    monkeypatch.setenv("BROWSER", choice.format(program=shlex.quote(str(browser.program))))
    assert open_in_browser(judge("https://example.com")) is True
    assert browser.opened == [arguments]


def test_a_browser_that_fails_is_followed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    broken, working = Browser(tmp_path, "broken", then="sys.exit(3)"), Browser(tmp_path, "working")
    monkeypatch.setenv("BROWSER", f"{broken.program}:{working.program}")
    assert open_in_browser(judge("https://example.com")) is True
    assert len(broken.starts) == len(working.starts) == 1


def test_a_browser_inside_the_terminal_does_not_take_it_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = Browser(tmp_path, "w3m")
    monkeypatch.setenv("BROWSER", str(text.program))
    assert open_in_browser(judge("https://example.com")) is False
    assert text.starts == []


@pytest.mark.verifies("R69", "T08")
@pytest.mark.parametrize(
    "choice",
    [
        "sh -c '{program} %s'",
        "/bin/bash -c '{program} %s'",
        "env sh -c '{program} %s'",
        "env --split-string='{program} %s'",
        "timeout 9 {program} -e 'browser %s'",
        "{program} -e system(qq(firefox%s))",
        "{program} -remote openURL(%s)",
    ],
)
def test_a_choice_of_browser_that_makes_the_link_part_of_a_command_is_passed_over(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, choice: str
):
    monkeypatch.setenv("BROWSER", choice.format(program=shlex.quote(str(browser.program))))
    assert open_in_browser(judge("https://example.com/?$(id)")) is False
    assert browser.starts == []


@pytest.mark.verifies("R69", "T08")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("powershell.exe", "/c start"),
        ("PowerShell.EXE", "Start"),
        ("pwsh", "-c"),
        ("pwsh-7.4", "-c"),
        ("cmd", "/c start"),
        ("CMD.exe", "/c start"),
        ("ash", "-c"),
        ("mksh", "-c"),
        ("bash-5.2", "-c"),
        ("ssh", "laptop xdg-open"),
        ("tmux", "new-session -d"),
        ("screen", "-dm"),
        ("xterm", "-e firefox"),
        ("script", "-c"),
        ("su", "other -c"),
        ("watch", "-g firefox"),
        ("wslview", ""),
        ("wsl-open", ""),
        ("start", ""),
    ],
)
def test_a_choice_of_browser_that_reads_its_arguments_as_a_command_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: str
):
    shell = Browser(tmp_path, name)
    program = shlex.quote(str(shell.program))
    monkeypatch.setenv("BROWSER", f"{program} {arguments}:env {program} {arguments} %s")
    assert open_in_browser(judge("https://evil.example/;calc")) is False
    assert shell.starts == []


@pytest.mark.verifies("R69")
def test_a_shell_under_another_name_is_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shell = Browser(tmp_path, "wslview")
    (tmp_path / "x-www-browser").symlink_to(shell.program)
    (tmp_path / "xdg-open").symlink_to(shell.program)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BROWSER", "x-www-browser")
    monkeypatch.setenv("DISPLAY", ":0")
    assert open_in_browser(judge("https://evil.example/$(calc)")) is False
    assert shell.starts == []


@pytest.mark.verifies("R69", "T08")
def test_no_terminal_runs_what_a_link_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    socket, made = tmp_path / "socket", tmp_path / "made"
    monkeypatch.setenv("BROWSER", f"tmux -S {shlex.quote(str(socket))} new-session -d")
    assert open_in_browser(judge(f"https://evil.example/;touch$IFS{made};")) is False
    assert not socket.exists() and not made.exists()


@pytest.mark.verifies("R69", "T08")
@pytest.mark.parametrize("sign", [*browser_module.WINDOWS_BELOW, "a place that only such systems have"])
def test_inside_windows_the_link_goes_to_windows_and_through_no_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: str
):
    names = ("rundll32.exe", "wslview", "xdg-open", "gio")
    windows, *others = [Browser(tmp_path, name) for name in names]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("BROWSER", "xdg-open:gio open:wslview")
    if sign in browser_module.WINDOWS_BELOW:
        monkeypatch.setenv(sign, "Debian")
    else:
        monkeypatch.setattr(browser_module, "INTEROP", (str(tmp_path),))
    verdict = judge("https://evil.example/$(calc);calc?a&calc")
    assert open_in_browser(verdict) is True
    assert windows.opened == [["url.dll,FileProtocolHandler", verdict.href]]
    windows.program.unlink()
    assert open_in_browser(verdict) is False
    assert not any(other.starts for other in others)


def test_without_a_screen_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    desktop = Browser(tmp_path, "xdg-open")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert open_in_browser(judge("https://example.com")) is False
    assert desktop.starts == []


def test_with_a_screen_the_desktop_chooses_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    desktop = Browser(tmp_path, "xdg-open")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("BROWSER", "lynx")
    assert open_in_browser(judge("https://example.com")) is True
    assert desktop.opened == [["https://example.com/"]]


def test_on_macos_the_system_opens_it_and_over_ssh_nothing_does():
    href = "https://example.com/$(calc)"
    page = "file:///tmp/open.html"
    assert list(commands(href, page, {"DISPLAY": ":0"}, system="darwin")) == [["/usr/bin/open", page]]
    assert list(commands(href, page, {"SSH_CONNECTION": "from afar"}, system="darwin")) == []


@pytest.mark.parametrize("why", ["not a program", "not there", "a folder"])
def test_a_browser_that_does_not_start_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str):
    program = tmp_path / "program"
    if why == "not a program":
        program.write_bytes(b"\x00\x01")
        program.chmod(0o755)
    elif why == "a folder":
        program.mkdir()
    monkeypatch.setenv("BROWSER", str(program))
    assert open_in_browser(judge("https://example.com")) is False


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Path]:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    ours = os.open(gate, os.O_RDWR)
    yield gate
    # The browser that waits here goes home. One that comes later finds no gate, and none has to come.
    gate.unlink()
    os.close(ours)


def test_a_browser_that_stays_open_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: Path
):
    staying = Browser(tmp_path, "staying", then=f"open({str(gate)!r}).read()")
    monkeypatch.setenv("BROWSER", str(staying.program))
    monkeypatch.setattr(browser_module, "START_TIMEOUT", 0.01)
    assert open_in_browser(judge("https://example.com")) is True
