"""One field under the cursor: typed text, or a list to choose from. Each keeps the draft up to date as it changes."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from askback.client import labels
from askback.client.forms import Draft, FormEntry
from askback.client.terminal.layout import BOLD, EDITED, PLAIN, Row, at_most, text_rows
from askback.model import safe
from askback.model.cells import cut, pad, width_of

INDENT = "   "
MAX_DRAWN_LENGTH = 4_000
"""Characters drawn on either side of the cursor: a pasted book does not make the keys slow."""
MAX_OPTION_ROWS = 8
"""A longer list scrolls: the fields around it stay in sight."""
FIND = "find: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Rows, and where the cursor stands in them."""

    rows: list[Row]
    cursor: tuple[int, int]


class Editor(ABC):
    """What keys do in one field."""

    def __init__(self, entry: FormEntry, draft: Draft) -> None:
        self.entry = entry
        self.draft = draft
        self.buffer = Buffer()

    @abstractmethod
    def draw(self, width: int, room: int) -> Drawn: ...

    def wants(self, key: str) -> bool:
        """Keys that do something particular in this field."""
        return False

    def keeps(self, key: str) -> bool:
        """Keys that move within this field and so do not leave it."""
        return False

    @abstractmethod
    def press(self, key: str) -> None:
        """One of the keys it wants."""

    def paste(self, text: str) -> None:
        self.buffer.insert_text(" ".join(text.splitlines()))

    @abstractmethod
    def leave(self) -> None:
        """Another field gets the cursor."""


def editor_of(entry: FormEntry, draft: Draft) -> Editor:
    if entry.kind == "choices":
        return SeveralEditor(entry, draft)
    return ChoiceEditor(entry, draft) if labels.titles(entry) else TextEditor(entry, draft)


class TextEditor(Editor):
    """A box for typed text. Free text may have several lines."""

    def __init__(self, entry: FormEntry, draft: Draft) -> None:
        super().__init__(entry, draft)
        self._has_lines = entry.kind == "text"
        self.buffer = Buffer(
            document=Document(draft.text(entry.name)),
            multiline=self._has_lines,
            on_text_changed=self._write,
        )

    def _write(self, buffer: Buffer) -> None:
        self.draft.write(self.entry.name, buffer.text)

    def wants(self, key: str) -> bool:
        return key == "c-n" and self._has_lines

    def keeps(self, key: str) -> bool:
        row, rows = self.buffer.document.cursor_position_row, self.buffer.document.line_count
        return (key == "up" and row > 0) or (key == "down" and row < rows - 1) or key in EDITING

    def press(self, key: str) -> None:
        self.buffer.newline(copy_margin=False)

    def leave(self) -> None:
        """What was typed stays, and so does the cursor in it."""

    def paste(self, text: str) -> None:
        if self._has_lines:
            self.buffer.insert_text(text)
        else:
            super().paste(text)

    def draw(self, width: int, room: int) -> Drawn:
        inner = max(2, width - len(INDENT) - 3)
        lines, (row, column) = _typed(self.buffer.document, inner)
        most = max(2, room // 2)
        top = max(0, min(row - most + 1, len(lines) - most))
        rows: list[Row] = [
            [(PLAIN, f"{INDENT}> "), (EDITED, pad(line, inner) + " ")] for line in lines[top : top + most]
        ]
        return Drawn(rows=rows, cursor=(row - top, len(INDENT) + 2 + column))


EDITING = {"left", "right", "home", "end", "backspace", "delete", "space", "escape"}


class ChoiceEditor(Editor):
    """One of several, like radio buttons: what is under the cursor is what is chosen; typing finds."""

    def __init__(self, entry: FormEntry, draft: Draft) -> None:
        super().__init__(entry, draft)
        self.buffer = Buffer(on_text_changed=lambda _: self._found())
        nothing = [] if entry.is_required or entry.kind == "choices" else [(None, labels.EMPTY_CHOICE)]
        self._options: list[tuple[Any, str]] = [*nothing, *labels.titles(entry)]
        self.at: int | None = self._first()

    def _first(self) -> int | None:
        value = self.draft.value(self.entry.name)
        return next((place for place, (one, _) in enumerate(self._options) if one == value), None)

    def wants(self, key: str) -> bool:
        if key == "space":  # a title may have several words, but none begins with a blank
            return not self.buffer.text
        return key in {"up", "down", "home", "end"} or (key == "escape" and bool(self.buffer.text))

    def keeps(self, key: str) -> bool:
        return key in EDITING

    def press(self, key: str) -> None:
        if key == "escape":
            self.buffer.reset()
        elif places := self._matching():
            self._move_to(_moved(places, self.at, key))

    def leave(self) -> None:
        self.buffer.reset()

    def is_chosen(self, value: Any) -> bool:
        return self.at is not None and self._options[self.at][0] == value

    def mark(self, value: Any) -> str:
        return "(•)" if self.is_chosen(value) else "( )"

    def draw(self, width: int, room: int) -> Drawn:
        places = self._matching()
        most = max(1, min(room - 2, MAX_OPTION_ROWS))
        here = places.index(self.at) if self.at in places else 0
        top = max(0, min(here - most // 2, len(places) - most))
        rows = list(self._rows(places, width, top, most))
        if not self.buffer.text:
            return Drawn(rows=rows, cursor=(here - top, len(INDENT)))
        line = cut(f"{INDENT}{FIND}{_shown(self.buffer.text)}", width - 1) + " "
        before = _shown(self.buffer.document.text_before_cursor)
        return Drawn(rows=[[(PLAIN, line)], *rows], cursor=(0, len(INDENT) + len(FIND) + len(before)))

    def _rows(self, places: list[int], width: int, top: int, most: int) -> Iterator[Row]:
        if not places:
            yield [(PLAIN, f"{INDENT}  nothing here has these letters")]
        for place in places[top : top + most]:
            value, title = self._options[place]
            if place == self.at:  # in full: what is chosen was read
                before, after = f"{INDENT}> {self.mark(value)} ", f"{INDENT}    │ "
                yield from at_most(text_rows(title, width, before=before, after=after, style=BOLD), most)
            else:
                yield [(PLAIN, cut(f"{INDENT}  {self.mark(value)} {title}", width))]
        if len(places) > most:
            yield [(PLAIN, f"{INDENT}      {top + 1} to {top + most} of {len(places)}")]

    def _matching(self) -> list[int]:
        wanted = self.buffer.text.casefold().strip()
        return [place for place, (_, title) in enumerate(self._options) if wanted in title.casefold()]

    def _found(self) -> None:
        wanted = self.buffer.text.casefold().strip()
        places = self._matching()
        if wanted and places:
            starting = (place for place in places if self._options[place][1].casefold().startswith(wanted))
            self._move_to(next(starting, places[0]))

    def _move_to(self, place: int) -> None:
        self.at = place
        self.draft.set(self.entry.name, self._options[place][0])


class SeveralEditor(ChoiceEditor):
    """Several of several: the cursor moves freely, the space bar ticks."""

    def _first(self) -> int | None:
        return 0 if self._options else None

    def is_chosen(self, value: Any) -> bool:
        return value in (self.draft.value(self.entry.name) or ())

    def mark(self, value: Any) -> str:
        return "[x]" if self.is_chosen(value) else "[ ]"

    def wants(self, key: str) -> bool:
        return key == "space" or super().wants(key)

    def press(self, key: str) -> None:
        if key != "space":
            super().press(key)
        elif self.at is not None:
            self._tick(self._options[self.at][0])

    def _tick(self, ticked: Any) -> None:
        chosen = [value for value, _ in self._options if self.is_chosen(value) != (value == ticked)]
        self.draft.set(self.entry.name, chosen)

    def _move_to(self, place: int) -> None:
        self.at = place


def _moved(places: list[int], at: int | None, key: str) -> int:
    here = places.index(at) if at in places else None
    match key:
        case "space" if at is not None and here is not None:
            return at
        case "home":
            return places[0]
        case "end":
            return places[-1]
        case "up":
            return places[max(0, (here or 0) - 1)]
        case _:
            return places[0 if here is None else min(len(places) - 1, here + 1)]


def _typed(document: Document, width: int) -> tuple[list[str], tuple[int, int]]:
    """What was typed, broken at the edge, and where the cursor is in it."""
    start = max(0, document.cursor_position - MAX_DRAWN_LENGTH)
    text = document.text[start : document.cursor_position + MAX_DRAWN_LENGTH]
    lines, cursor = [""], (0, 0)
    for place, character in enumerate(text):
        shown = _visible(character)
        if character != "\n" and width_of(lines[-1]) + width_of(shown) > width:
            lines.append("")
        if place == document.cursor_position - start:
            cursor = (len(lines) - 1, len(lines[-1]))
        if character == "\n":
            lines.append("")
        else:
            lines[-1] += shown
    if document.cursor_position - start == len(text):
        cursor = (len(lines) - 1, len(lines[-1]))
    return lines, cursor


@lru_cache(maxsize=4_096)
def _visible(character: str) -> str:
    return safe.safe_line(character)


def _shown(text: str) -> str:
    return "".join(map(_visible, text))
