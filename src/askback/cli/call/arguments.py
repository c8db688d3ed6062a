"""`name=value` on the command line, read as the parameter of that name wants it. Knows no server and no terminal."""

import difflib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from askback.cli.call.parameters import CallSignature, Parameter, as_text
from askback.cli.exits import Misused
from askback.schema.size import exceeds_depth

_WORD = re.compile(r"(?P<name>[^=]+?)(?P<sign>:?=)(?P<text>.*)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d{1,400}")
"""A double, in which most peers read a number, ends at 309 digits: what is longer was hardly meant as one."""

MOST_SHOWN = 200
"""Characters of a value that an error repeats."""

TRUE, FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One `name=value`, `name:=json`, `name=@file` or `name:=@file`, its file already read."""

    name: str
    text: str
    is_json: bool
    file: str | None = None

    @property
    def shown(self) -> str:
        """How an error speaks of the value: a file may hold a secret, and its text is repeated nowhere."""
        return repr(self.text[:MOST_SHOWN]) if self.file is None else f"the text of the file {self.file}"


def is_argument(word: str) -> bool:
    """Whether it is written like one; names of tools have no equals sign."""
    return _WORD.fullmatch(word) is not None


def read_arguments(words: Sequence[str], offer: CallSignature, *, here: Path) -> dict[str, Any]:
    """All of them, or all that is wrong with them at once."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for word in words:
        try:
            _add(values, _split(word, here), offer)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise Misused("\n".join(problems))
    return values


def read_value(parameter: Parameter, word: Word) -> Any:
    """The text as this parameter wants it; a ValueError says what it wants."""
    value = _converted(parameter, word)
    options = parameter.options
    if options and value not in options:
        raise ValueError(
            f"{parameter.name}: expected {parameter.expects}, not {word.shown}.{_guess(word, options)}"
        )
    return value


def read_json(text: str) -> Any:
    """Strictly: Python would also take NaN, which no peer can read."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if exceeds_depth(value):
        raise ValueError("it is nested too deeply")
    return value


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _split(word: str, here: Path) -> Word:
    found = _WORD.fullmatch(word)
    if found is None:
        raise ValueError(f"{word!r} is no argument. Write name=value, or name:=json for a value in JSON.")
    text, is_json = found["text"], found["sign"] == ":="
    if not text.startswith("@"):
        return Word(name=found["name"], text=text, is_json=is_json)
    file = text[1:]
    return Word(name=found["name"], text=_file(found["name"], file, here), is_json=is_json, file=file)


def _file(name: str, path: str, here: Path) -> str:
    try:
        return (here / Path(path).expanduser()).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError) as error:  # the last where ~name is nobody's home
        raise ValueError(
            f"{name}=@{path} takes the text of a file, and that cannot be read: {error}. For a value that "
            f"begins with @, write {name}:='\"@{path}\"'."
        ) from error


def _add(values: dict[str, Any], word: Word, offer: CallSignature) -> None:
    parameter = offer.parameter(word.name)
    if word.is_json:
        value = _json(word)
    elif parameter is None:
        raise ValueError(_unknown(word.name, offer))
    else:
        value = read_value(parameter, word)
    if word.name not in values:
        values[word.name] = value
    elif isinstance(value, list) and isinstance(values[word.name], list):
        values[word.name].extend(value)
    else:
        raise ValueError(f"{word.name} is given twice; it takes one value.")


def _unknown(name: str, offer: CallSignature) -> str:
    close = difflib.get_close_matches(name, offer.names, n=1)
    known = f"It takes {', '.join(offer.names)}." if offer.names else "It takes none."
    hint = f"Did you mean {close[0]}?" if close else known
    return f"The {offer.kind} {offer.name} has no argument {name}. {hint}"


def _converted(parameter: Parameter, word: Word) -> Any:
    """As the first kind that fits; text fits all, so it comes last."""
    kinds = sorted(parameter.kinds, key=lambda kind: kind == "string")
    for kind in kinds or ["anything"]:
        try:
            return READERS[kind](parameter, word.text)
        except ValueError:
            continue
    raise ValueError(f"{parameter.name}: expected {parameter.expects}, not {word.shown}.")


def _integer(_: Parameter, text: str) -> int:
    if _INTEGER.fullmatch(text.strip()) is None:
        raise ValueError(text)
    return int(text)


def _number(parameter: Parameter, text: str) -> float:
    if _INTEGER.fullmatch(text.strip()):
        return _integer(parameter, text)
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _boolean(_: Parameter, text: str) -> bool:
    word = text.strip().lower()
    if word not in TRUE | FALSE:
        raise ValueError(text)
    return word in TRUE


def _array(parameter: Parameter, text: str) -> list[Any]:
    """JSON, or one item; the same name again adds the next."""
    if text.lstrip().startswith("["):
        return list(read_json(text))
    return [read_value(parameter.item, Word(name=parameter.name, text=text, is_json=False))]


def _object(_: Parameter, text: str) -> dict[str, Any]:
    value = read_json(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return cast("dict[str, Any]", value)


def _anything(_: Parameter, text: str) -> Any:
    """JSON where it is JSON, else the text."""
    try:
        return read_json(text)
    except ValueError:
        return text


READERS: dict[str, Callable[[Parameter, str], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
    "string": lambda _, text: text,
    "anything": _anything,
}


def _json(word: Word) -> Any:
    try:
        return read_json(word.text)
    except ValueError as error:
        raise ValueError(f"{word.name}:= takes JSON, and {word.shown} is none: {error}.") from error


def _guess(word: Word, options: Sequence[Any]) -> str:
    words = {as_text(option).lower(): as_text(option) for option in options}
    close = difflib.get_close_matches(word.text[:MOST_SHOWN].lower(), words, n=1)
    return f" Did you mean {words[close[0]]}?" if close else ""
