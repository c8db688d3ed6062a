"""The store that a command looks into: only one that is there, and none is made because somebody looks."""

from pathlib import Path

from askback.cli.exits import Misused
from askback.model.safe import safe_text
from askback.stores.factory import SECRET

SQLITE = "sqlite:///"

POSTGRES = ("postgres", "postgresql")


def require_existing(written: str) -> str:
    """What to open for it."""
    if written == "memory:":
        raise Misused("What is kept in memory, its own server alone can see. Name a store that lasts.")
    file = file_of(written)
    if file is not None and not file.is_file():
        raise Misused(
            f"There is no file {safe_text(str(file))}: a server makes it with its first call, and looking makes none. "
            "Check the path, and the folder you are in."
        )
    return _untouched(written)


def file_of(written: str) -> Path | None:
    """Where it is one."""
    return Path(written.removeprefix(SQLITE)) if written.startswith(SQLITE) else None


def place_of(written: str) -> str:
    """To be printed: without a password, which may stand before the @ or behind the ?."""
    return safe_text(str(file_of(written) or SECRET.sub("...@", written).partition("?")[0]))


def is_postgres(written: str) -> bool:
    return written.partition(":")[0] in POSTGRES


def _untouched(written: str) -> str:
    if not is_postgres(written):
        return written
    return f"{written}{'&' if '?' in written else '?'}migrate=0"
