"""Templates of questions, `"Delete {path}?"`: checked when the guard is made, and filled with quoted values."""

import re
from collections.abc import Collection, Iterator
from string import Formatter
from typing import Any, NamedTuple

from askback.errors import AuthorError
from askback.guards.arguments import to_plain
from askback.guards.display import render_plain
from askback.guards.risk import Arguments

TOOL = "tool"
"""The name of the tool in templates and functions of a guard; it never means an argument of that name."""

_NAME = re.compile(r"[.\[]")
_FORMATTER = Formatter()


class Part(NamedTuple):
    """A piece of text, and the field behind it if there is one."""

    text: str
    field: str | None
    conversion: str | None
    spec: str

    @property
    def name(self) -> str:
        """The argument that the field begins with: `path` in `path.name`."""
        return _NAME.split(self.field or "", maxsplit=1)[0]

    @property
    def is_whole(self) -> bool:
        """Whether it shows the whole argument, and not a part of it or a rounded number."""
        return self.field == self.name and not self.conversion and not self.spec


class Template:
    """Made by `guard(...)`; `option` is which of its options it is, for errors."""

    __slots__ = ("_parts", "names", "text", "whole")

    def __init__(self, text: str, *, option: str) -> None:
        self.text = text
        self._parts = list(_parsed(text, option))
        fields = [part for part in self._parts if part.field is not None]
        self.names = frozenset(part.name for part in fields)
        self.whole = frozenset(part.name for part in fields if part.is_whole) - {TOOL}
        """Arguments that it shows in full."""

    def require(self, known: Collection[str], *, option: str, what: str) -> None:
        """Refuse names that are no argument of the function."""
        if strange := sorted(self.names - {TOOL, *known}):
            raise AuthorError(
                f"guard({option}={self.text!r:.200}) names {{{strange[0]}}}, and {what} has no such argument, so "
                f"nothing ran. It can name: {', '.join(sorted({TOOL, *known}))}."
            )

    def render(self, tool: str, arguments: Arguments) -> str:
        """The text with the values in it."""
        given = {**arguments, TOOL: tool}
        return "".join(
            part.text + (render_plain(_value(part, given)) if part.field is not None else "")
            for part in self._parts
        )

    def values(self, tool: str, arguments: Arguments) -> list[tuple[str, Any]]:
        """The fields with what they come to, for a digest."""
        given = {**arguments, TOOL: tool}
        return [(part.field, _value(part, given)) for part in self._parts if part.field is not None]


def _parsed(text: str, option: str) -> Iterator[Part]:
    try:
        for literal, field, spec, conversion in Formatter().parse(text):
            part = Part(literal, field, conversion, spec or "")
            if field is not None and (not part.name.isidentifier() or "{" in part.spec):
                raise ValueError(f"{{{field}}} does not name an argument")
            yield part
    except ValueError as error:
        raise AuthorError(
            f"guard({option}={text!r:.200}) is not a template: {error}. Name arguments in braces, 'Delete {{path}}?', "
            "and write {{ for a brace."
        ) from error


def _value(part: Part, given: Arguments) -> Any:
    found, _ = _FORMATTER.get_field(part.field or "", (), given)
    if part.is_whole or not (part.conversion or part.spec):
        return to_plain(found)
    return format(_FORMATTER.convert_field(found, part.conversion), part.spec)
