"""A page in a file of ours that leads a browser on to a link (T29).

Every user of a machine can list the programs that run, with their arguments. A link may hold a one-time code, or the
secret path of a page on this machine, and whoever opens it first is let in. So a browser is started with the name of a
file that only this user can read, and the link stands in the file.
"""

import html
import logging
import os
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

LIFE: Final = 60.0
"""Seconds until the file is removed: a browser that has to be started first takes some, and the desk's codes last as
long."""

LEFT_OVER: Final = 3_600.0
"""Seconds after which a folder of ours is removed that was left behind, as by a machine that was switched off."""

PREFIX: Final = "askback-open-"

SNAPS: Final = Path("/snap/bin")
"""There where browsers may be snaps. Those see neither the temporary folder nor hidden ones, but the home folder."""

PAGE: Final = """<!doctype html>
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
    text = PAGE.format(href=html.escape(href, quote=True))
    problem: OSError = FileNotFoundError("no folder for it")
    for base in filter(_is_fit, _bases(environment)):
        _sweep(base)
        try:
            return _write(base, text)
        except OSError as error:
            problem = error
    raise problem


def remove_handover(page: Path) -> None:
    """Remove the file and its folder, if they are still there."""
    shutil.rmtree(page.parent, ignore_errors=True)


def remove_later(page: Path) -> None:
    """Remove the file and its folder after `LIFE` seconds, also if this program has ended by then.

    `xdg-open` returns at once, and a browser that has to be started first reads the file seconds later. So a process of
    its own waits and removes it.
    """
    words = ["/bin/sh", "-c", 'sleep "$1"; rm -rf -- "$2"', "sh", f"{LIFE:g}", str(page.parent)]
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


def _write(base: Path, text: str) -> Path:
    page = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base)) / "open.html"
    try:
        descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except BaseException:
        remove_handover(page)
        raise
    return page


def _bases(environment: Mapping[str, str]) -> list[Path]:
    """Where the file may lie, the best first. A relative path would depend on the current folder, and is ignored."""
    bases: list[str] = []
    if SNAPS.is_dir():
        bases.append(os.path.expanduser("~"))  # stays as it is where there is no home folder
    bases.append(environment.get("XDG_RUNTIME_DIR", ""))
    with suppress(OSError):
        bases.append(tempfile.gettempdir())
    return [Path(os.path.realpath(base)) for base in bases if os.path.isabs(base)]


def _is_fit(base: Path) -> bool:
    """Whether nobody else can rename what we put there."""
    try:
        status = base.stat()
    except OSError:
        return False
    is_ours = status.st_uid in (0, os.getuid())
    return is_ours and (not status.st_mode & 0o022 or bool(status.st_mode & stat.S_ISVTX))


def _sweep(base: Path) -> None:
    before = time.time() - LEFT_OVER
    with suppress(OSError):
        for folder in base.glob(f"{PREFIX}*"):
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and status.st_mtime < before:
                shutil.rmtree(folder, ignore_errors=True)
