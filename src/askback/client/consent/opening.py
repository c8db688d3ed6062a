"""Opening a consented link in the person's own browser: a program is started with the link as its argument, no shell.

Python's `webbrowser` is not used: it falls back to browsers inside the terminal, which take it away from whoever is
asking, it waits for some browsers to end, and it has taken links for options.
"""

import logging
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Final

from askback.client.consent.judging import judge
from askback.client.consent.verdict import Verdict

logger = logging.getLogger(__name__)

Opener = Callable[[Verdict], bool]
"""Opens what the person has consented to, and says whether it did; a link that did not open is shown for copying."""

PATIENCE: Final = 3.0
"""Seconds until a program counts as a browser at work: one that cannot open anything has failed before."""

DESKTOPS: Final = (("xdg-open",), ("gio", "open"), ("wslview",))
"""What opens links on Linux and the BSDs, the most usual first."""

IN_TERMINAL: Final = frozenset(
    ("lynx", "w3m", "links", "links2", "elinks", "browsh", "www-browser", "sensible-browser")
)
"""Browsers that draw in the terminal in which the person is being asked, or that choose such a one."""

SHELLS: Final = frozenset(
    ("sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "busybox", "cmd.exe", "powershell")
)
"""They would read the link as a command; a choice of browser that goes through one is passed over."""

SCREENS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")
"""One of these is set where a program can open a window."""


def open_in_browser(verdict: Verdict) -> bool:
    """Start the system's browser with `verdict.href`; False with nothing started where that cannot be.

    It never raises, and takes up to a few seconds: in an event loop, call it in a thread. The link is judged once
    more here, so that nothing opens on the word of a verdict that somebody made up.
    """
    if not verdict.allowed or not judge(verdict.href).allowed:
        return False
    if sys.platform == "win32":
        return _open_on_windows(verdict.href)
    return any(_starts(command) for command in _commands(verdict.href, os.environ))


def _commands(href: str, environment: Mapping[str, str]) -> Iterator[list[str]]:
    """What to try, in order: the person's own choice, then the desktop's, where there is a screen before them."""
    for choice in environment.get("BROWSER", "").split(os.pathsep):
        if command := _chosen(choice, href):
            yield command
    if sys.platform == "darwin":
        if "SSH_CONNECTION" not in environment:  # it would open on the far machine's screen
            yield ["/usr/bin/open", href]
    elif any(environment.get(screen) for screen in SCREENS):
        yield from ([*desktop, href] for desktop in DESKTOPS)


def _chosen(choice: str, href: str) -> list[str] | None:
    """One entry of BROWSER: a command, with `%s` where the link goes or the link behind it."""
    try:
        words = shlex.split(choice)
    except ValueError:
        return None
    words = words[:-1] if words[-1:] == ["&"] else words
    if not words or any(PurePath(word).name in IN_TERMINAL | SHELLS for word in words):
        return None
    placed = [word.replace("%s", href) for word in words[1:]]
    return [words[0], *placed] if placed != words[1:] else [*words, href]


def _starts(command: list[str]) -> bool:
    program = shutil.which(command[0])
    if program is None:
        return False
    try:
        process = subprocess.Popen(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is about the question, not about the browser
            # We have tried what BROWSER names; a desktop's opener would fall back to it, text browsers included.
            env={name: value for name, value in os.environ.items() if name != "BROWSER"},
        )
    except (OSError, ValueError) as error:
        logger.info("%s does not start: %s", command[0], error)
        return False
    return _is_at_work(process)


def _is_at_work(process: subprocess.Popen[bytes]) -> bool:
    try:
        return process.wait(PATIENCE) == 0
    except subprocess.TimeoutExpired:
        # Somebody has to see it end, however late, or it stays in the process table.
        threading.Thread(target=process.wait, daemon=True).start()
        return True


def _open_on_windows(href: str) -> bool:
    if "SSH_CONNECTION" in os.environ or sys.platform != "win32":
        return False
    try:
        os.startfile(href)
    except OSError as error:
        logger.info("No browser starts: %s", error)
        return False
    return True
