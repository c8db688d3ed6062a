"""Times, numbers and names as commands print them."""

from datetime import UTC, datetime

from askback.model.safe import safe_text


def format_time(moment: float, *, seconds: bool = False) -> str:
    """In the time zone of the reader."""
    local = datetime.fromtimestamp(moment, UTC).astimezone()
    return local.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def format_iso(moment: float | None) -> str | None:
    """In UTC, for programs."""
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def format_count(count: float, noun: str) -> str:
    return f"{count:g} {noun}" if count == 1 else f"{count:g} {noun}s"


def shorten(text: str, length: int | None) -> str:
    """One safe line of at most this many characters."""
    line = " ".join(text.split())
    return safe_text(line if length is None or len(line) <= length else line[: length - 1] + "…")
