"""Opening a consented link in the person's own browser: a program is started, and no shell.

Its argument is a file that leads on to the link, because other users of the machine can read the arguments of every
program (`handover`).

Python's `webbrowser` is not used: it falls back to browsers inside the terminal, which take it away from whoever is
asking, it waits for some browsers to end, and it has taken links for options.
"""

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Final

from askback.client.consent.handover import reap, remove_handover, remove_later, write_handover
from askback.client.consent.judging import judge
from askback.client.consent.programs import commands
from askback.client.consent.verdict import Verdict

logger = logging.getLogger(__name__)

Opener = Callable[[Verdict], bool]
"""Opens what the person has consented to, and says whether it did; a link that did not open is shown for copying."""

PATIENCE: Final = 3.0
"""Seconds until a program counts as a browser at work: one that cannot open anything has failed before."""


def open_in_browser(verdict: Verdict) -> bool:
    """Start the system's browser at `verdict.href`; False with nothing started where that cannot be.

    It never raises, and takes up to a few seconds: in an event loop, call it in a thread. The link is judged once
    more here, so that nothing opens on the word of a verdict that somebody made up.
    """
    if not verdict.allowed or not judge(verdict.href).allowed:
        return False
    if sys.platform == "win32":
        return _open_on_windows(verdict.href)
    try:
        page = write_handover(verdict.href, os.environ)
    except (OSError, RuntimeError, ValueError) as error:
        logger.warning("No file can be made that leads a browser to the link: %s", error)
        return False
    remove_later(page)  # before anything is started: the file goes, whatever becomes of this program
    is_open = any(_starts(command) for command in commands(verdict.href, page.as_uri(), os.environ))
    if not is_open:
        remove_handover(page)
    return is_open


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
        reap(process)
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
