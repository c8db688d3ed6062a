"""The pages as tests read them: their blocks of code, their tables, their links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from tests.support.paths import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_INCLUDE = re.compile(r'^\s*--8<-- "(?P<file>[^":]+)(?::(?P<section>\w+))?"$', re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block."""

    page: Path
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {self.text.splitlines()[0]}"


def blocks(page: Path, language: str) -> Iterator[Block]:
    """The page's blocks in one language."""
    for found in _FENCE.finditer(page.read_text()):
        if found["language"] == language:
            yield Block(page=page, language=language, text=found["text"])


def includes(page: Path) -> Iterator[tuple[str, str | None]]:
    """The files that a page takes its code from, with the section of each."""
    return ((found["file"], found["section"]) for found in _INCLUDE.finditer(page.read_text()))


def is_include(block: Block) -> bool:
    return _INCLUDE.match(block.text) is not None


def links(page: Path) -> Iterator[str]:
    """Where the page's prose points to, within the repository."""
    prose = _FENCE.sub("", page.read_text())
    return (found["target"] for found in _LINK.finditer(prose) if "://" not in found["target"])


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    prose = _FENCE.sub("", page.read_text())
    return {_slug(found["text"]) for found in _HEADING.finditer(prose)} | {
        line.removeprefix("::: ") for line in prose.splitlines() if line.startswith("::: ")
    }


def _slug(heading: str) -> str:
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def table(page: Path, *titles: str) -> list[list[str]]:
    """The rows of the table with these column titles."""
    _, found, below = page.read_text().partition(f"| {' | '.join(titles)} |\n")
    assert found, f"{page} has no such table: {', '.join(titles)}"
    rows = takewhile(lambda line: line.startswith("|"), below.splitlines()[1:])
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]


def code_of(cell: str) -> str:
    """The code that a cell begins with."""
    found = re.match(r"`(.+?)`", cell)
    assert found is not None, f"{cell!r} begins with no code"
    return found[1]


def one_line(text: str) -> str:
    return " ".join(text.split())
