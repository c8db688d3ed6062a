"""The guide as the tests read it: the files it shows, the lines it says to add, and the words it quotes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from askback.testing import REVISIONS
from tests.support.docs_pages import DOCS, ROOT, one_line, table

PAGE = DOCS / "how-to" / "migrate.md"

WORKS_ON = {
    "all three": list(REVISIONS),
    "the 2025 revisions": [one for one in REVISIONS if one.startswith("2025")],
    "2025-11-25": ["2025-11-25"],
    "2026-07-28": ["2026-07-28"],
}
"""How the table says where something works today."""

_HEADING = re.compile(r"^## ", re.MULTILINE)
_FILE = re.compile(r'^--8<-- "examples/migrate/(?P<style>\w+)/before\.py', re.MULTILINE)
_BLOCK = re.compile(r"^```(?P<language>diff|text)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What the guide shows of one style, named by its folder in examples/migrate."""

    style: str
    works_on: list[str]
    """The revisions on which the file works today, from the row of the table that leads here."""
    diff: str
    quoted: list[str]
    """How the file fails today, in the words of the SDK or of FastMCP."""


def sections() -> Iterator[Section]:
    """Every part of the page that shows a file as it was."""
    page = PAGE.read_text()
    rows = table(PAGE, "you have", "works today on", "add", "or write")
    for file, row in zip(_FILE.finditer(page), rows, strict=True):
        blocks = [*_BLOCK.finditer(_HEADING.split(page[file.end() :])[0])]
        diffs = [block["text"] for block in blocks if block["language"] == "diff"]
        assert len(diffs) == 1, f"The guide shows {len(diffs)} diffs for {file['style']}, not one."
        quoted = [one_line(block["text"]) for block in blocks if block["language"] == "text"]
        yield Section(style=file["style"], works_on=WORKS_ON[row[1]], diff=diffs[0], quoted=quoted)


SECTIONS = {section.style: section for section in sections()}


def source_of(style: str, variant: str) -> str:
    """A file of the examples; "line" is the one before with the lines that the guide says to add."""
    if variant == "line":
        return with_lines(source_of(style, "before"), SECTIONS[style].diff)
    return (ROOT / "examples" / "migrate" / style / f"{variant}.py").read_text()


def with_lines(source: str, diff: str) -> str:
    """`source` with the added lines of `diff`, whose other lines stand in it as they are."""
    for hunk in re.split(r"^@@\n", diff, flags=re.MULTILINE):
        lines = hunk.splitlines()
        kept = "\n".join(line[1:] for line in lines if not line.startswith("+"))
        assert source.count(kept) == 1, f"The diff does not fit where it says:\n{kept}"
        source = source.replace(kept, "\n".join(line[1:] for line in lines))
    return source


def added(diff: str) -> list[str]:
    """The lines that a diff adds."""
    return [line[1:] for line in diff.splitlines() if line.startswith("+")]
