"""Opening a consented link in the person's own browser: a program is started, and no shell.

Every user of a machine can list the programs that run, with their arguments. A link may hold a one-time code, or the
secret path of a page on this machine, and the first one to open it is let in. So a browser is started with the name of
a file that only this user can read and that leads on to the link (T29). Programs of Windows get the link itself: they
do not see the files of a Linux inside Windows, which one person has.

A link may hold `$`, `(`, `)`, `;`, `|`, `&` and `'`: they belong to links, and a browser that gets one as an argument
of its own reads them so. They are orders to whatever takes its arguments for a command line. No spelling of a link is
safe from that (`&` cannot be written otherwise without asking for another page), so such programs never get one.

Python's `webbrowser` is not used: it falls back to browsers inside the terminal, which take it away from the
question, it waits for some browsers to end, and it has taken links for options.
"""

import html
import logging
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PureWindowsPath
from typing import Final

from askback.client.consent.verdict import Verdict, judge

logger = logging.getLogger(__name__)

DESKTOPS: Final = (("xdg-open",), ("gio", "open"))
"""What opens links on Linux and the BSDs, the most usual first. Both hand the link on as one argument."""

SCREENS: Final = ("DISPLAY", "WAYLAND_DISPLAY")
"""One of these is set where a program can open a window."""

WINDOWS_BELOW: Final = ("WSL_DISTRO_NAME", "WSL_INTEROP")
"""One of these is set in Linux inside Windows. What opens links there goes through PowerShell or cmd.exe."""

INTEROP: Final = tuple(f"/proc/sys/fs/binfmt_misc/WSLInterop{suffix}" for suffix in ("", "-late"))
"""There where Linux can start programs of Windows, also for a user whose environment says nothing of it."""

WINDOWS: Final = tuple(
    (program, "url.dll,FileProtocolHandler")
    for program in ("rundll32.exe", "/mnt/c/Windows/System32/rundll32.exe")
)
"""Windows' own way to open a link without a shell, by its path where PATH does not hold the programs of Windows."""

WITHOUT_FILES: Final = frozenset(("flatpak", "browser.sh"))
"""They open links where our file is not to be seen: in a sandbox of its own, and on the machine that an editor with a
remote window runs on. The link is shown instead; the terminals of such editors open it at a click."""

IN_TERMINAL: Final = frozenset(
    ("lynx", "w3m", "links", "links2", "elinks", "browsh", "www-browser", "sensible-browser")
)
"""Browsers that draw in the terminal in which the person is being asked, or that choose such a one."""

INTERPRETERS: Final = frozenset((
    "sh", "ash", "bash", "rbash", "csh", "dash", "elvish", "fish", "ksh", "lksh", "mksh", "nu", "oksh", "osh",
    "pdksh", "rc", "tcsh", "xonsh", "yash", "zsh", "busybox", "toybox",
    "cmd", "command", "cscript", "mshta", "powershell", "pwsh", "start", "wscript", "wsl", "wsl-open", "wslview", "wt",
    "adb", "autossh", "dbclient", "mosh", "plink", "rlogin", "rsh", "ssh", "sshpass",
    "abduco", "byobu", "dtach", "dvtm", "screen", "tmux", "zellij",
    "runuser", "sg", "su",
    "at", "batch", "eval", "expect", "hyprctl", "i3-msg", "osascript", "parallel", "script", "swaymsg", "systemd-run",
    "unbuffer", "watch",
    "alacritty", "foot", "gnome-terminal", "kitty", "konsole", "lxterminal", "mate-terminal", "ptyxis", "qterminal",
    "rxvt", "st", "terminator", "tilix", "urxvt", "uxterm", "wezterm", "x-terminal-emulator", "xfce4-terminal", "xterm",
))  # fmt: skip
"""They read a link as a command or may hand it to something that does: shells, the ways to other machines, users and
terminals, and what opens links through one of them. A choice of browser that names one is passed over."""

UNFIT: Final = IN_TERMINAL | INTERPRETERS | WITHOUT_FILES

_PLACED: Final = re.compile(r"(?:--?[a-zA-Z][a-zA-Z0-9-]*=)?%s")
"""The link as a word of its own, or as the value of an option; inside anything longer it would be part of a text that
somebody reads as orders, as in `-c 'browser %s'`."""

_VERSION: Final = re.compile(r"[-.0-9]+$")


def commands(
    href: str, page: str, environment: Mapping[str, str], *, system: str = sys.platform
) -> Iterator[list[str]]:
    """What to try, in order: the person's own choice, then the system's, where there is a screen before them.

    `page` is the file that leads on to `href`, as a URL.
    """
    is_in_windows = any(map(environment.get, WINDOWS_BELOW)) or any(map(os.path.exists, INTEROP))
    unfit = UNFIT | {desktop[0] for desktop in DESKTOPS} if is_in_windows else UNFIT
    for choice in environment.get("BROWSER", "").split(os.pathsep):
        if command := _chosen(choice, href, page, unfit):
            yield command
    for words in WINDOWS if is_in_windows else _desktops(environment, system):
        if not any(_names(word) & unfit for word in words):
            yield [*words, href if is_in_windows else page]


def _desktops(environment: Mapping[str, str], system: str) -> tuple[tuple[str, ...], ...]:
    if system == "darwin":
        # Over SSH it would open on the far machine's screen.
        return () if "SSH_CONNECTION" in environment else (("/usr/bin/open",),)
    return DESKTOPS if any(map(environment.get, SCREENS)) else ()


def _chosen(choice: str, href: str, page: str, unfit: frozenset[str]) -> list[str] | None:
    """One entry of BROWSER: an absolute path, blanks and all, or a command; the page is its `%s` or follows it."""
    try:
        words = [choice] if os.path.isabs(choice) and shutil.which(choice) else shlex.split(choice)
    except ValueError:
        return None
    words = words[:-1] if words[-1:] == ["&"] else words
    if not words:
        return None
    is_unfit = any(_names(word) & unfit for word in words)
    if is_unfit or not all(_PLACED.fullmatch(word) for word in words if "%s" in word):
        logger.info("BROWSER is passed over, since it is not started with a file as a browser is: %s", choice)
        return None
    handed = href if words[0].casefold().endswith(".exe") else page
    placed = [word.replace("%s", handed) for word in words[1:]]
    return [words[0], *placed] if placed != words[1:] else [*words, handed]


def _names(word: str) -> frozenset[str]:
    """Its own, and the one of the program that it is a link to: `x-www-browser` can be anything."""
    found = shutil.which(word)
    return frozenset((_bare(word), _bare(os.path.realpath(found)))) if found else frozenset((_bare(word),))


def _bare(word: str) -> str:
    """Without its folder in either system's spelling, letter case, `.exe` and version."""
    name = PureWindowsPath(word).name.casefold().removesuffix(".exe")
    return name if name in IN_TERMINAL else _VERSION.sub("", name)


HANDOVER_SECONDS: Final = 60.0
"""Seconds until the file is removed: a browser that has to be started first takes some, and the desk's codes last as
long."""

MAX_HANDOVER_AGE_SECONDS: Final = 3_600.0
"""Seconds after which a folder of ours is removed that was left behind, as by a machine that was switched off."""

HANDOVER_PREFIX: Final = "askback-open-"

SNAPS: Final = Path("/snap/bin")
"""There where browsers may be snaps. Those see neither the temporary folder nor hidden ones, but the home folder."""

HANDOVER_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={href}">
<title>Askback</title>
</head>
<body><p><a href="{href}" rel="noreferrer">Go on to the page</a></p></body>
</html>
"""
"""A refresh and no script: it keeps the fragment, sends no Referer, and works where scripts are switched off."""


def write_handover(href: str, environment: Mapping[str, str]) -> Path:
    """A new file with mode 0600 in a new folder with mode 0700. `OSError` where no folder is fit for it."""
    text = HANDOVER_PAGE.format(href=html.escape(href, quote=True))
    problem: OSError = FileNotFoundError("no folder for it")
    for base in filter(_is_safe_folder, _folders(environment)):
        _sweep(base)
        try:
            return _write_page(base, text)
        except OSError as error:
            problem = error
    raise problem


def remove_handover(page: Path) -> None:
    """Remove the file and its folder, if they are still there."""
    shutil.rmtree(page.parent, ignore_errors=True)


def remove_later(page: Path) -> None:
    """Remove the file and its folder after `HANDOVER_SECONDS` seconds, also if this program has ended by then.

    `xdg-open` returns at once, and a browser that has to be started first reads the file seconds later. So a process of
    its own waits and removes it.
    """
    words = ["/bin/sh", "-c", 'sleep "$1"; rm -rf -- "$2"', "sh", f"{HANDOVER_SECONDS:g}", str(page.parent)]
    try:
        process = subprocess.Popen(
            words,
            cwd="/",
            # The usual folders come first: `sleep` and `rm` are found whatever PATH says.
            env={"PATH": os.pathsep.join((os.defpath, os.environ.get("PATH", "")))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        logger.info("The file %s stays until the next link is opened: %s", page, error)
    else:
        reap(process)


def reap(process: subprocess.Popen[bytes]) -> None:
    """See the process end, however late, or it stays in the process table."""
    with suppress(RuntimeError):  # no more threads can be started
        threading.Thread(target=process.wait, daemon=True).start()


def _write_page(base: Path, text: str) -> Path:
    page = Path(tempfile.mkdtemp(prefix=HANDOVER_PREFIX, dir=base)) / "open.html"
    try:
        descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except BaseException:
        remove_handover(page)
        raise
    return page


def _folders(environment: Mapping[str, str]) -> list[Path]:
    """Where the file may lie, the best first. A relative path would depend on the current folder, and is ignored."""
    bases: list[str] = []
    if SNAPS.is_dir():
        bases.append(os.path.expanduser("~"))  # stays as it is where there is no home folder
    bases.append(environment.get("XDG_RUNTIME_DIR", ""))
    with suppress(OSError):
        bases.append(tempfile.gettempdir())
    return [Path(os.path.realpath(base)) for base in bases if os.path.isabs(base)]


def _is_safe_folder(base: Path) -> bool:
    """Whether no other user can rename what we put there."""
    try:
        status = base.stat()
    except OSError:
        return False
    is_ours = status.st_uid in (0, os.getuid())
    return is_ours and (not status.st_mode & 0o022 or bool(status.st_mode & stat.S_ISVTX))


def _sweep(base: Path) -> None:
    before = time.time() - MAX_HANDOVER_AGE_SECONDS
    with suppress(OSError):
        for folder in base.glob(f"{HANDOVER_PREFIX}*"):
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and status.st_mtime < before:
                shutil.rmtree(folder, ignore_errors=True)


Opener = Callable[[Verdict], bool]
"""Opens what the person has consented to, and says whether it did; a link that did not open is shown for copying."""

START_TIMEOUT: Final = 3.0
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
    try:
        return process.wait(START_TIMEOUT) == 0
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
