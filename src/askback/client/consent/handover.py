"""A page in a file of ours that leads a browser on to a link (T29).

Every user of a machine can list the programs that run, with their arguments. A link may hold a one-time code, or the
secret path of a page on this machine, and whoever opens it first is let in. So a browser is started with the name of a
file that only this user can read, and the link stands in the file.
"""

import atexit
import html
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

LIFE: Final = 60.0
"""Seconds until the file is removed: a browser that has to be started first takes some, and the desk's codes last as
long. The file goes earlier when the program ends."""

LEFT_OVER: Final = 3_600.0
"""Seconds after which a folder of ours is removed that a killed program has left behind."""

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
    page = _make_folder(environment) / "open.html"
    _written().add(page)
    descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(PAGE.format(href=html.escape(href, quote=True)))
    return page


def remove_handover(page: Path) -> None:
    """Remove the file and its folder, if they are still there."""
    shutil.rmtree(page.parent, ignore_errors=True)
    _written().discard(page)


def remove_later(page: Path) -> None:
    """Remove the file once a browser has had the time to read it."""
    timer = threading.Timer(LIFE, remove_handover, [page])
    timer.daemon = True
    timer.start()


@cache
def _written() -> set[Path]:
    """The files that are still there; they go when the program ends."""
    pages: set[Path] = set()
    atexit.register(lambda: [remove_handover(page) for page in tuple(pages)])
    return pages


def _make_folder(environment: Mapping[str, str]) -> Path:
    problem: OSError = FileNotFoundError("no folder for it")
    for base in _bases(environment):
        if _is_fit(base):
            _sweep(base)
            try:
                return Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
            except OSError as error:
                problem = error
    raise problem


def _bases(environment: Mapping[str, str]) -> Iterator[Path]:
    if SNAPS.is_dir():
        yield Path.home()
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        yield Path(runtime)
    yield Path(tempfile.gettempdir())


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
