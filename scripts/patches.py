"""Writes the table of docs/explain/patches.md: which attributes of other packages Askback replaces, and why.

python -m scripts.patches
"""

import re
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path
from typing import Any, NamedTuple

from askback.server.hosts import patches

PAGE = Path(__file__).parent.parent / "docs" / "explain" / "patches.md"

MARK = "<!-- From here the page is written by `python -m scripts.patches`. -->\n"

DOCSTRING = re.compile(
    r"(?P<what>[^:]+): (?P<why>[^\n]+)\.\n\nFor: (?P<versions>.+)\.\nUntil: (?P<until>.+)\."
)
"""The form of the docstring of a patch."""


class Patch(NamedTuple):
    """One row of the table, read from the docstring of a function."""

    function: str
    what: str
    why: str
    versions: str
    until: str


def patch_rows() -> Iterator[Patch]:
    """All patches in the order of their module. Raises `ValueError` for a docstring that lacks a part."""
    functions: dict[str, Any] = {name: f for name, f in vars(patches).items() if name.startswith("patch_")}
    for name, function in functions.items():
        parts = DOCSTRING.fullmatch(getdoc(function) or "")
        if parts is None:
            raise ValueError(
                f"{name} does not say what it replaces and why, for which versions, and until when"
            )
        yield Patch(name, **parts.groupdict())


def page(written: str) -> str:
    """The page with a new table. The text above the table stays."""
    rows = [f"| {one.what} | {one.why} | {one.versions} | {one.until} |" for one in patch_rows()]
    head = ["| what is replaced | why | versions | until |", "|---|---|---|---|"]
    return f"{written.partition(MARK)[0]}{MARK}\n" + "\n".join([*head, *rows]) + "\n"


def main() -> None:
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
