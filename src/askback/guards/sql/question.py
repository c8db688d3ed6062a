"""A question about SQL: what was found out about a statement, in words that an author can replace."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from askback.guards.cost import CostLimits, CostWords, Estimate, Measure
from askback.guards.sql.catalogue import SQLCatalogue, digest_of
from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.names import Dialect
from askback.guards.sql.readings import SQLReading
from askback.guards.sql.statements import QUERIES
from askback.guards.templates import defang, make_legible, render_value
from askback.model.texts import require_templates


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    statement: str
    dialect: Dialect
    known: SQLCatalogue | None
    """None where no source could tell."""
    reading: SQLReading | None
    """None where there was nothing to read it against."""
    is_priced: bool
    """Whether an estimator was there to be asked."""
    estimate: Estimate | None
    exceeded: tuple[Measure, ...] = ()
    kinds: tuple[str, ...] | None = None
    """The first word of each statement; None where the text cannot be parted into statements."""
    engine: str = ""
    """Name of the engine that found this out; empty where only the text was read."""
    inspection: Inspection | None = None
    """The engine's inspection; None if it could not be asked."""

    @property
    def is_clear(self) -> bool:
        """Whether nobody needs to be asked: all is known of it, and it is harmless and cheap."""
        is_cheap = not self.is_priced or (self.estimate is not None and not self.exceeded)
        return self.reading is not None and self.reading.is_clear and is_cheap

    @property
    def is_query(self) -> bool:
        """Whether it is one query, understood to its end, that changes nothing."""
        if self.engine:
            found = self.inspection
            return found is not None and found.is_query and found.can_be_planned and not found.doubts
        kinds = self.kinds or ()
        is_plain = self.reading is not None and not self.reading.writes and not self.reading.unresolved
        return len(kinds) == 1 and kinds[0] in QUERIES and is_plain

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.statement.encode(errors="surrogatepass")).hexdigest()

    def facts(self) -> dict[str, Any]:
        """For the ledger, in JSON."""
        reading = self.reading
        return {
            "statement": self.digest,
            "dialect": self.dialect,
            "engine": self.engine or None,
            "catalogue": None if self.known is None else self.known.digest,
            "personal": None if reading is None else dict(reading.personal),
            "writes": None if reading is None else list(map(make_legible, reading.writes)),
            "unresolved": None if reading is None else list(map(make_legible, reading.unresolved)),
            "cost": None if self.estimate is None else asdict(self.estimate),
            "over": list(self.exceeded),
        }

    def scope(self) -> str:
        """A digest that an approval is bound to: this statement, this catalogue, and a cost with as many digits."""
        cost = self.estimate
        numbers = () if cost is None else (cost.rows, cost.widest, cost.bytes, cost.seconds)
        return digest_of(
            self.dialect,
            self.engine,
            self.digest,
            None if self.known is None else self.known.digest,
            None if self.reading is None else [*self.reading.writes, *self.reading.unresolved],
            None if self.inspection is None else sorted(self.inspection.columns),
            self.is_priced,
            [None if number is None else math.floor(math.log10(number + 1)) for number in numbers],
            self.exceeded,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLWords:
    """One `str.format` template each, which a translator replaces: `SQLWords(query="Abfrage ausführen?")`."""

    query: str = "Run this query?"
    statement: str = "Run this statement?"
    changing: str = "Run this statement, which changes something?"
    several: str = "Run these {count} statements, one after the other?"
    unreadable: str = "Run this, which cannot be read as SQL?"
    cost: str = "How much: {cost}."
    cost_unknown: str = "How much: nobody can tell what it would cost."
    impersonal: str = "It shows and tests no personal columns."
    personal: str = "Personal columns that it shows or tests:"
    found_by: str = "{engine} said what it touches; nothing of it has run."
    column: str = "- {column}: {tag}"
    column_like: str = "- {column}: {tag}, such as {example}"
    untold: str = (
        "Nobody can tell what it touches: which tables and personal columns there are cannot be read."
    )
    unresolved: str = "Not understood, so nobody can tell what else it touches:"
    silent: str = "Nobody can tell what it touches: {engine} did not answer."
    changes: str = "It changes:"
    item: str = "- {item}"
    more: str = "- and {count} more"
    beside: str = "With {name} = {value}"
    text: str = "All of it:"

    run: str = "Run it"
    limit: str = "Run it for at most {rows}"
    no: str = "Do not run it"
    covers: str = "exactly this statement, while tables, tags and the size of it stay the same"

    def __post_init__(self) -> None:
        require_templates(self)


MARGIN, MARGIN_ON = "  | ", "  + "
"""Before each line of a statement, and before what goes on from a line that is too wide."""

MAX_LINE_LENGTH = 70
"""Characters of a line. A client would break a wider one, and its rest would begin where our own lines begin."""

INDENT = "    "

MAX_ITEMS = 12
"""Doubts or changes in a question. The statement itself is there in full, and so are all personal columns."""


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
        ]
        if finding.inspection is not None:
            lines.append(words.found_by.format(engine=finding.engine))
        lines += [words.beside.format(name=name, value=render_value(value)) for name, value in beside.items()]
        return "\n".join(map(defang, [*lines, "", words.text, *add_margin(finding.statement)]))

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
            told = {"column": make_one_line(column), "tag": make_one_line(known.titles.get(tag, tag))}
            example = known.examples.get(tag)
            if example is None:
                yield words.column.format(**told)
            else:
                yield words.column_like.format(**told, example=make_one_line(example))

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

    def _items(self, items: Sequence[str]) -> Iterator[str]:
        yield from (self._words.item.format(item=make_one_line(item)) for item in items[:MAX_ITEMS])
        if len(items) > MAX_ITEMS:
            yield self._words.more.format(count=len(items) - MAX_ITEMS)


def make_one_line(text: str) -> str:
    return make_legible(" ".join(text.split("\n")))


def add_margin(statement: str) -> Iterator[str]:
    """Every line behind a mark that is ours, so that no line of it can pass for one of ours."""
    for line in statement.rstrip().replace("\r\n", "\n").split("\n"):
        margin, text = MARGIN, make_legible(expand_tabs(line))
        while len(text) > MAX_LINE_LENGTH:
            end = text.rfind(" ", MAX_LINE_LENGTH // 2, MAX_LINE_LENGTH) + 1 or MAX_LINE_LENGTH
            yield margin + text[:end]
            margin, text = MARGIN_ON, text[end:]
        yield margin + text


def expand_tabs(line: str) -> str:
    """With spaces for the tabs that it begins with."""
    rest = line.lstrip("\t")
    return INDENT * (len(line) - len(rest)) + rest
