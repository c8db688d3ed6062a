"""Templates of questions, `"Delete {path}?"`: checked when the guard is made, and filled with values.

A value is complete, on one line, quoted so that it cannot pass for our words, and without links.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from string import Formatter
from typing import Any, NamedTuple, cast

from askback.errors import AuthorError
from askback.guards.arguments import HIDDEN, Arguments, HiddenValue, to_plain
from askback.model.safe import is_hidden
from askback.schema.forms import MAX_MESSAGE_LENGTH

_WORD = re.compile(r"[\w/~@+-](?:[\w./~@+:=,%#-]*[\w/~@+-])?")
"""What stands without quotes: a path, a name, an address, a number; no spaces, and no full stop at its end."""

_LITERAL = re.compile(r"true|false|null|NaN|-?Infinity|[-+]?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)

_LINK = re.compile(
    r"(?<=[A-Za-z0-9+.-]):(?=//)|(?<=\bmailto):(?=\S)|(?<=script):(?=\S)|(?<=\bdata):(?=\S)|(?<=\bfile):(?=\S)"
    r"|(?<=\btel):(?=\S)|(?<=\bwww)\.",
    re.IGNORECASE,
)
"""Where an address is broken: behind its scheme, or behind `www`. Nothing is looked for that could be long."""

_QUOTES = frozenset("\u201c\u201d\u201e\u201f\u275d\u275e\u301d\u301e\u301f\uff02\u2033\u02ba\u02ee")
"""Would look like the end of a quotation."""

_BREAK = re.compile(r"(?<=([^\n]))\n+(?=([^\n]))")


def render_value(value: Any) -> str:
    """A value in full, as it stands in a question."""
    return render_plain(to_plain(value))


def render_plain(value: Any) -> str:
    """A value that `to_plain` returned, as it stands in a question."""
    if isinstance(value, str):
        return defang(value if _is_word(value) else quote_text(value))
    return defang(_written(value))


def quote_text(text: str) -> str:
    """Between quotation marks that it cannot end; what hides, moves or looks like them is spelled by its number."""
    return f'"{make_legible(json.dumps(text, ensure_ascii=False)[1:-1])}"'


def defang(text: str) -> str:
    """Without anything that a client would make a link of. What is so already stays as it is (R13)."""
    return _LINK.sub(r"[\g<0>]", text)


def quote_values(message: str, arguments: Mapping[str, Any]) -> str:
    """A question that an author put together: values in it that would draw lines of their own are quoted."""
    if len(message) > MAX_MESSAGE_LENGTH:
        return message  # nobody will be shown it
    texts = {text for text in _texts(to_plain(arguments)) if not _is_legible(text)}
    for text in sorted(texts, key=len, reverse=True):
        if text in message and ("\n" in text or make_legible(text) != text):
            message = message.replace(text, quote_text(text))
    breaks = {_beside(found) for text in texts for found in _BREAK.finditer(text)}
    return make_legible(_BREAK.sub(lambda found: _unbroken(found, breaks), message))


def _beside(found: re.Match[str]) -> tuple[str, str]:
    return found[1].casefold(), found[2].casefold()


def _unbroken(found: re.Match[str], breaks: Collection[tuple[str, str]]) -> str:
    """A line break that came with a value, of which the author has cut or changed something."""
    return found[0].replace("\n", "\\n") if _beside(found) in breaks else found[0]


def make_legible(message: str) -> str:
    """Line by line; whatever hides or moves text is spelled by its number."""
    return "\n".join(
        line if _is_legible(line) else "".join(map(_spelled, line)) for line in message.split("\n")
    )


def _is_legible(text: str) -> bool:
    """Whether it is one line of what cannot hide anything; most is, and that is soon seen."""
    return text.isascii() and text.isprintable()


def _is_word(text: str) -> bool:
    """Whether it can be told from all around it, and from a value that is no text, without quotes."""
    return _WORD.fullmatch(text) is not None and text.isprintable() and not _LITERAL.fullmatch(text)


def _written(value: Any) -> str:
    match value:
        case HiddenValue():
            return HIDDEN
        case str():
            return quote_text(value)
        case list():
            return f"[{', '.join(map(_written, cast('list[Any]', value)))}]"
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return f"{{{', '.join(f'{quote_text(key)}: {_written(one)}' for key, one in pairs)}}}"
        case _:
            return json.dumps(value)


def _spelled(letter: str) -> str:
    is_other_space = unicodedata.category(letter) == "Zs" and letter != " "
    if not (is_other_space or letter in _QUOTES or is_hidden(letter)):
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str() if value:
            yield value
        case list():
            for one in cast("list[Any]", value):
                yield from _texts(one)
        case dict():
            for key, one in cast("dict[str, Any]", value).items():
                yield from (key, *_texts(one))
        case _:
            return


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
