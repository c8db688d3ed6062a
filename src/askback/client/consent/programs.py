"""Which programs may be started to open a link, and what stands among their arguments. Starts nothing itself.

They are given the name of a file that leads on to the link, because others on this machine can read their arguments.
Programs of Windows get the link itself: they do not see the files of a Linux inside Windows, which one person has.

A link may hold `$`, `(`, `)`, `;`, `|`, `&` and `'`: they belong to links, and a browser that gets one as an argument
of its own reads them so. They are orders to whatever takes its arguments for a command line. No spelling of a link is
safe from that (`&` cannot be written otherwise without asking for another page), so such programs never get one.
"""

import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import PureWindowsPath
from typing import Final

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
