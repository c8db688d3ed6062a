"""One whole screen as rows of styled pieces: bar, the server's words in their frame, a body, buttons. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from askback.model.cells import ELLIPSIS, chop, cut, pad, width_of, wrap

Piece = tuple[str, str]
"""Style and text."""
Row = list[Piece]

PLAIN = ""
BOLD = "bold"
OURS = "bold reverse"
"""The bar and the button in focus. The terminal's own two colours, swapped: legible on dark and on light, and nothing
that a server writes is ever shown so."""
WARNING = "bold ansired"
"""Colour is a second sign only: a warning also begins with an exclamation mark and says that it is one."""
EDITED = "underline"

ROOMY_ROWS = 16
"""Below this many rows the ornaments go first; what is asked and the buttons stay."""
SPARE_COLUMNS = 36
"""Below this many columns buttons touch each other and labels stand above their values."""
ROOMY_COLUMNS = 72
"""Below this many columns keys are written `^D` instead of `Ctrl-D`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of the terminal, now."""

    columns: int
    rows: int

    @property
    def is_low(self) -> bool:
        return self.rows < ROOMY_ROWS

    @property
    def is_narrow(self) -> bool:
        return self.columns < ROOMY_COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A word and the control key that does the same. `focused` is where Enter goes."""

    word: str
    key: str = ""
    focused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The part that scrolls: by itself, to show the rows from `first` to `last`; by keys if there are none."""

    rows: list[Row]
    first: int | None = None
    last: int = 0
    cursor: tuple[int, int] | None = None
    """Row and column within the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a scene wants shown; `lay_out` makes a screen of it."""

    bar: tuple[str, str]
    """Our own words at the very top: on the left who asks, on the right the place in the queue."""
    above: Sequence[Row] = ()
    """Stays under the bar."""
    words: Sequence[str] = ()
    """What the server writes, as safe lines; drawn in its frame and scrolled there."""
    words_title: str = ""
    body: Body
    status: Sequence[str] = ()
    """Which keys do what, the most useful first: what does not fit is left out."""
    buttons: Sequence[Button] = ()


@dataclass(slots=True)
class Scroll:
    """How far the two panes are scrolled; kept from one drawing to the next."""

    words: int = 0
    body: int = 0
    words_page: int = field(default=1)
    """How many lines of the server's words were in sight last time."""
    tallest: int = 0
    """The most rows that the body had so far: the words above it do not jump when a field opens or closes."""


def lay_out(page: Page, size: Size, scroll: Scroll) -> tuple[list[Row], tuple[int, int] | None]:
    """Exactly as many rows as the terminal has, and the cursor. Bar above, buttons below; the rest shares the room."""
    buttons = _button_rows(page.buttons, size)
    foot_height = len(buttons) + (0 if size.is_low else 2)
    head = [*_bar(page.bar, size), *page.above][: max(1, size.rows - foot_height - 2)]
    room = max(0, size.rows - len(head) - foot_height)
    words = _words(page, size, scroll, room)
    body, top = _body(page.body, room - len(words), scroll)
    unseen = (top > 0, top + len(body) < len(page.body.rows))
    more = f" {UNSEEN[unseen]} ──" if unseen in UNSEEN else ""
    rule = "─" * (size.columns - width_of(more)) + more
    foot: list[Row] = [] if size.is_low else [[(PLAIN, rule)], [(PLAIN, _status(page.status, size.columns))]]
    rows: list[Row] = [*head, *words, *body, *foot, *buttons][-size.rows :]
    if page.body.cursor is None:
        return rows, None
    row, column = page.body.cursor
    return rows, (len(head) + len(words) + row - top, min(column, size.columns - 1))


def text_rows(text: str, width: int, *, before: str = " ", after: str = "", style: str = PLAIN) -> list[Row]:
    """A paragraph of ours; its later lines stand under the first."""
    return [
        [(style, line)] for line in wrap(text, width, before=before, hang=after or " " * width_of(before))
    ]


def at_most(rows: list[Row], most: int) -> list[Row]:
    """The first rows, the last of them with a sign that there were more."""
    if len(rows) <= most:
        return rows
    style, text = rows[most - 1][-1]
    return [*rows[: most - 1], [(style, f"{text[:-1]}{ELLIPSIS}")]]


def server_rows(lines: Iterable[str], width: int, *, indent: str = " ") -> list[Row]:
    """What a server writes: every row behind a bar of ours, and further in what only goes on from the row before."""
    bar = f"{indent}│ "
    return [[(PLAIN, row)] for line in lines for row in wrap(line, width, before=bar, hang=f"{bar}  ")]


def link_rows(href: str, width: int) -> list[Row]:
    """A link in full, broken only at the edge of the screen."""
    return [[(PLAIN, f"  {piece}")] for piece in chop(href, width - 2)]


def warning_rows(text: str, width: int) -> list[Row]:
    return text_rows(text, width, before=" ! ", style=WARNING)


def _bar(bar: tuple[str, str], size: Size) -> list[Row]:
    left, right = (f" {text} " if text else "" for text in bar)
    is_short = size.is_low and width_of(right) <= size.columns // 3
    if is_short or width_of(left) + width_of(right) <= size.columns:
        return [[(OURS, pad(left, size.columns - width_of(right)) + right)]]
    return [[(OURS, pad(text, size.columns))] for text in (left, right)][: 1 if size.is_low else 2]


UNSEEN = {(True, True): "more above and below", (True, False): "more above", (False, True): "more below"}


def _status(phrases: Sequence[str], columns: int) -> str:
    line = ""
    for phrase in phrases:
        longer = f"{line}   {phrase}" if line else f" {phrase}"
        line = longer if not line or width_of(longer) <= columns else line
    return cut(line, columns)


def _button_rows(buttons: Sequence[Button], size: Size) -> list[Row]:
    """As many rows as it takes: a button is never left out."""
    gap = " " if size.columns >= SPARE_COLUMNS else ""
    rows: list[Row] = [[]]
    used = 0
    for button in buttons:
        key = button.key.replace("Ctrl-", "^") if size.is_narrow else button.key
        blank = "" if size.is_narrow else " "
        word = f"{blank}{f'{button.word} {key}'.rstrip()}{blank}"
        text = gap + cut(f">{word}<" if button.focused else f"[{word}]", size.columns - len(gap))
        if rows[-1] and used + width_of(text) > size.columns:
            rows.append([])
            used = 0
        rows[-1] += [(PLAIN, gap), (OURS if button.focused else BOLD, text.removeprefix(gap))]
        used += width_of(text)
    return rows


def _words(page: Page, size: Size, scroll: Scroll, room: int) -> list[Row]:
    """The server's frame: a third of the room and what the body does not need; PgDn shows more of it."""
    if not page.words:
        return []
    rows = server_rows(page.words, size.columns)
    scroll.tallest = max(scroll.tallest, len(page.body.rows))
    most = max(1, room // 3, room - scroll.tallest - (1 if size.is_low else 3))
    shown = min(len(rows), most)
    scroll.words_page = shown
    scroll.words = max(0, min(scroll.words, len(rows) - shown))
    until = scroll.words + shown
    is_whole = shown == len(rows)
    place = "" if is_whole else f"{scroll.words + 1}-{until} of {len(rows)}, PgUp PgDn"
    if size.is_low:
        return [_edge("┌", page.words_title if is_whole else place, size), *rows[scroll.words : until]]
    place = place and f"lines {place}"
    edges = _edge("┌", page.words_title, size), _edge("└", place, size)
    return [edges[0], *rows[scroll.words : until], edges[1], []]


def _edge(corner: str, title: str, size: Size) -> Row:
    start = f" {corner}─ {title} " if title else f" {corner}"
    start = cut(start, size.columns - 1)
    return [(PLAIN, start + "─" * (size.columns - 1 - width_of(start)))]


def _body(body: Body, room: int, scroll: Scroll) -> tuple[list[Row], int]:
    """The rows in sight, and which is the first of them."""
    room = max(0, room)
    top = min(scroll.body, max(0, len(body.rows) - room))
    if body.first is not None:
        top = min(max(top, body.last + 1 - room), body.first)
    if body.cursor is not None:
        top = min(max(top, body.cursor[0] + 1 - room), body.cursor[0])
    scroll.body = max(0, top)
    rows = body.rows[scroll.body : scroll.body + room]
    return [*rows, *([] for _ in range(room - len(rows)))], scroll.body
