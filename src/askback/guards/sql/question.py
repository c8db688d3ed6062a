"""A finding in a person's words: plain lines in a fixed order, the statement last, in a margin it cannot leave."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from askback.guards.cost import CostLimits, CostWords
from askback.guards.display import defang, make_legible, render_value
from askback.guards.sql.findings import Finding
from askback.guards.sql.words import SQLWords

MARGIN, MARGIN_ON = "  | ", "  + "
"""Before each line of a statement, and before what goes on from a line that is too wide."""

MAX_LINE_LENGTH = 70
"""Characters of a line. A wider one would be broken by whoever shows it, and go on where our own lines begin."""

INDENT = "    "

MAX_ITEMS = 12
"""Of what was not understood or is changed. The statement itself is there in full, and so are all personal columns."""


class QuestionWriter:
    """Knows the words, and nothing of how a finding was come by."""

    def __init__(self, *, words: SQLWords, cost_words: CostWords, limits: CostLimits) -> None:
        self._words, self._cost_words, self._limits = words, cost_words, limits

    def message(self, finding: Finding, beside: Mapping[str, Any]) -> str:
        """The whole question; `beside` are the arguments that the tool takes besides the statement."""
        words = self._words
        lines = [self._what(finding), ""]
        lines += [
            *self._how_much(finding),
            *self._personal(finding),
            *self._doubts(finding),
            *self._changes(finding),
            *self._witness(finding),
        ]
        lines += [words.beside.format(name=name, value=render_value(value)) for name, value in beside.items()]
        return "\n".join(map(defang, [*lines, "", words.text, *in_margin(finding.statement)]))

    def _what(self, finding: Finding) -> str:
        words, kinds = self._words, finding.kinds
        if finding.engine:
            is_change = finding.inspection is not None and bool(finding.inspection.writes)
            return words.changing if is_change else words.query if finding.is_query else words.statement
        if kinds is None or not kinds:
            return words.unreadable
        if len(kinds) > 1:
            return words.several.format(count=len(kinds))
        if finding.reading is not None and finding.reading.writes:
            return words.changing
        return words.query if finding.is_query else words.statement

    def _how_much(self, finding: Finding) -> Iterator[str]:
        if finding.estimate is not None:
            cost = self._cost_words.describe(finding.estimate, self._limits)
            yield self._words.cost.format(cost=cost)
        elif finding.is_priced:
            yield self._words.cost_unknown

    def _personal(self, finding: Finding) -> Iterator[str]:
        known, reading, words = finding.known, finding.reading, self._words
        if known is None or reading is None:
            return
        if not reading.personal:
            if not reading.unresolved:
                yield words.impersonal
            return
        yield words.personal
        for column, tag in reading.personal.items():
            told = {"column": on_a_line(column), "tag": on_a_line(known.titles.get(tag, tag))}
            example = known.examples.get(tag)
            if example is None:
                yield words.column.format(**told)
            else:
                yield words.column_like.format(**told, example=on_a_line(example))

    def _doubts(self, finding: Finding) -> Iterator[str]:
        words, reading = self._words, finding.reading
        if reading is None:
            is_silent = finding.engine and finding.known is not None
            yield words.silent.format(engine=finding.engine) if is_silent else words.untold
        elif reading.unresolved:
            yield words.unresolved
            yield from self._items(reading.unresolved)

    def _changes(self, finding: Finding) -> Iterator[str]:
        if finding.reading is not None and finding.reading.writes:
            yield self._words.changes
            yield from self._items(finding.reading.writes)

    def _witness(self, finding: Finding) -> Iterator[str]:
        if finding.inspection is not None:
            yield self._words.found_by.format(engine=finding.engine)

    def _items(self, items: Sequence[str]) -> Iterator[str]:
        yield from (self._words.item.format(item=on_a_line(item)) for item in items[:MAX_ITEMS])
        if len(items) > MAX_ITEMS:
            yield self._words.more.format(count=len(items) - MAX_ITEMS)


def on_a_line(text: str) -> str:
    return make_legible(" ".join(text.split("\n")))


def in_margin(statement: str) -> Iterator[str]:
    """Every line behind a mark that is ours, so that no line of it can pass for one of ours."""
    for line in statement.rstrip().replace("\r\n", "\n").split("\n"):
        margin, text = MARGIN, make_legible(indented(line))
        while len(text) > MAX_LINE_LENGTH:
            end = text.rfind(" ", MAX_LINE_LENGTH // 2, MAX_LINE_LENGTH) + 1 or MAX_LINE_LENGTH
            yield margin + text[:end]
            margin, text = MARGIN_ON, text[end:]
        yield margin + text


def indented(line: str) -> str:
    """With spaces for the tabs that it begins with."""
    rest = line.lstrip("\t")
    return INDENT * (len(line) - len(rest)) + rest
