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

SAID = re.compile(r"(?P<what>[^:]+): (?P<why>[^\n]+)\.\n\nFor: (?P<versions>.+)\.\nUntil: (?P<until>.+)\.")
"""How the docstring of a patch is written."""


class Patch(NamedTuple):
    """What one function replaces, as its docstring says it."""

    function: str
    what: str
    why: str
    versions: str
    until: str


def found() -> Iterator[Patch]:
    """All patches, in the order of their module; raises `ValueError` for one that does not say enough."""
    functions: dict[str, Any] = {name: f for name, f in vars(patches).items() if name.startswith("patch_")}
    for name, function in functions.items():
        said = SAID.fullmatch(getdoc(function) or "")
        if said is None:
            raise ValueError(
                f"{name} does not say what it replaces and why, for which versions, and until when"
            )
        yield Patch(name, **said.groupdict())


def page(written: str) -> str:
    """The page with its table as it should be; what was written by hand stays."""
    rows = [f"| {one.what} | {one.why} | {one.versions} | {one.until} |" for one in found()]
    head = ["| what is replaced | why | versions | until |", "|---|---|---|---|"]
    return f"{written.partition(MARK)[0]}{MARK}\n" + "\n".join([*head, *rows]) + "\n"


def main() -> None:
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
