"""Random expressions from templates: every `{word}` in a template asks the writer for a part."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeVar, cast

from tests.guards.sql.oracle.forms import AGGREGATES, FORMS, LITERALS, WINDOWS
from tests.guards.sql.oracle.relations import Kind, Relation
from tests.guards.sql.oracle.scopes import Place, Query, Scope, Source

DEPTHS = (0, 1, 1, 2, 3)
"""Of queries within queries. Most statements are short: what leaks in a long one is often hidden by the rest of it."""

T = TypeVar("T")

Part = re.compile(r"\{([a-z_]+)\}")


class Stuck(Exception):
    """A template asks for something that is not there, or that a harmless statement must not name."""


class ExpressionWriter(ABC):
    """Writes expressions. Reads few tagged columns in one statement: what is overlooked must not hide behind others."""

    forms: Mapping[str, Sequence[str]] = FORMS
    aggregates: Mapping[str, Sequence[str]] = AGGREGATES
    windows: Mapping[str, Sequence[str]] = WINDOWS
    literals: Mapping[str, Sequence[str]] = LITERALS
    ignores_case = True

    def __init__(self, random: Random, relations: Sequence[Relation], *, is_harmless: bool = False) -> None:
        self.random, self.relations, self.is_harmless = random, relations, is_harmless
        self.tagged_left = 0
        """How many more tagged columns the statement may read."""
        self.touched = 0
        """How many it has read."""
        self.names = 0
        self.max_depth = 0

    @abstractmethod
    def query(self, parent: Scope | None, depth: int, kinds: Sequence[Kind] | None = None) -> Query: ...

    @abstractmethod
    def scalar(self, kind: Kind, parent: Scope, depth: int) -> str: ...

    def chance(self, percent: float) -> bool:
        return self.random.random() * 100 < percent

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[int(self.random.random() * len(choices))]

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def spell(self, name: str) -> str:
        """A name as it may be written: quoted where it must be, and sometimes where it need not."""
        if not name.isidentifier() or name != name.lower() or self.chance(8):
            return f'"{name}"'
        return name.upper() if self.chance(4) else name

    def expand(self, template: str, scope: Scope, depth: int) -> str:
        return Part.sub(lambda match: self.part(match[1], scope, depth), template)

    def part(self, word: str, scope: Scope, depth: int) -> str:
        """What a template asks for. A word such as `rows_int` is a method's name and kinds."""
        if word in self.forms:
            return self.expression(cast("Kind", word), scope, depth + 1)
        verb, _, rest = word.partition("_")
        write = cast("Callable[[str, Scope, int], str]", getattr(self, f"write_{verb}"))
        return write(rest, scope, depth)

    def value(self, kind: Kind, scope: Scope, depth: int) -> tuple[str, bool]:
        """An expression, and whether it reads something tagged."""
        before = self.touched
        text = self.expression(kind, scope, depth)
        return text, self.touched > before

    def expression(self, kind: Kind, scope: Scope, depth: int) -> str:
        if depth > self.max_depth + 1 and kind == "bool":
            return f"({self.expression('text', scope, depth)} <> {self.literal('text')})"
        is_deep = depth > self.max_depth + 1
        if is_deep or (kind != "bool" and self.chance(62)):
            column = self.column(kind, scope)
            if column or is_deep or self.chance(30):
                return column or self.literal(kind)
        return self.filled(self.forms[kind], scope, depth) or self.literal(kind)

    def filled(self, templates: Sequence[str], scope: Scope, depth: int) -> str | None:
        """One of the templates that can be filled here, filled."""
        for _ in range(3):
            before = (self.tagged_left, self.touched)
            try:
                return self.expand(self.one_of(templates), scope, depth)
            except Stuck:
                self.tagged_left, self.touched = before
        return None

    def literal(self, kind: Kind) -> str:
        if kind not in self.literals:
            return "NULL"
        return self.one_of(self.literals[kind])

    def column(self, kind: Kind, scope: Scope) -> str | None:
        place = self.place(kind, scope)
        return self.name(place) if place else None

    def place(self, kind: Kind, scope: Scope) -> Place | None:
        """A column of this kind: mostly an untagged one of this query's own sources."""
        found = [place for place in scope.places() if kind in ("any", place.column.kind)]
        if (own := [place for place in found if not place.is_outer]) and not self.chance(15):
            found = own
        tagged = [place for place in found if place.column.is_tagged]
        if tagged and self.may_touch(50):
            self.touch()
            return self.one_of(tagged)
        plain = [place for place in found if not place.column.is_tagged]
        return self.one_of(plain) if plain else None

    def may_touch(self, percent: float) -> bool:
        return self.tagged_left > 0 and self.chance(percent)

    def touch(self) -> None:
        self.tagged_left -= 1
        self.touched += 1

    def name(self, place: Place) -> str:
        """A column's name, bare where that is enough, or with its alias in front."""
        column = self.spell(place.column.name)
        if place.is_unique and self.chance(30 if place.is_outer else 55):
            return column
        return f"{self.spell(place.source.alias)}.{column}"

    # What templates ask for

    def write_raw(self, rest: str, scope: Scope, depth: int) -> str:
        """A text that may not be what a cast takes: a tagged one, or else one that every cast takes."""
        tagged = [place for place in scope.places() if place.column.is_tagged and place.column.kind == "text"]
        if tagged and self.tagged_left > 0:
            self.touch()
            return self.name(self.one_of(tagged))
        if self.chance(80):
            raise Stuck
        return self.literal("text")

    def write_tagged(self, rest: str, scope: Scope, depth: int) -> str:
        """Marks a template that reads something tagged by itself."""
        if self.tagged_left <= 0:
            raise Stuck
        self.touch()
        return ""

    def write_column(self, kind: str, scope: Scope, depth: int) -> str:
        if (name := self.column(cast("Kind", kind), scope)) is None:
            raise Stuck
        return name

    def write_number(self, rest: str, scope: Scope, depth: int) -> str:
        return str(self.random.randint(0, 3))

    def write_scalar(self, kind: str, scope: Scope, depth: int) -> str:
        if depth > self.max_depth:
            raise Stuck
        return f"({self.scalar(cast('Kind', kind), scope, depth + 1)})"

    def write_rows(self, kinds: str, scope: Scope, depth: int) -> str:
        """A subquery of columns of these kinds; of any where none is given."""
        if depth > self.max_depth:
            raise Stuck
        return self.query(
            scope, depth + 1, [cast("Kind", kind) for kind in kinds.split("_") if kind] or None
        ).text

    def write_window(self, rest: str, scope: Scope, depth: int) -> str:
        partition = f"PARTITION BY {self.key(scope)} " if self.chance(40) else ""
        return f"{partition}ORDER BY {self.key(scope)}{self.one_of(('', '', ' DESC'))}"

    def write_aggregate(self, kind: str, scope: Scope, depth: int) -> str:
        if kind not in self.aggregates:
            return self.literal(cast("Kind", kind))
        return self.filled(self.aggregates[kind], scope, depth) or self.literal(cast("Kind", kind))

    def write_row(self, rest: str, scope: Scope, depth: int) -> str:
        """The alias of a source, which stands for its whole row."""
        sources = [source for source in scope.sources if self.can_be_row(source, scope)]
        if not sources:
            raise Stuck
        source = self.one_of(sources)
        if source.is_tagged:
            self.touch()
        return self.spell(source.alias)

    def can_be_row(self, source: Source, scope: Scope) -> bool:
        """Where a column has the alias's name, the name means the column."""
        names = {place.column.name for place in scope.places()}
        return source.alias not in names and (not source.is_tagged or self.tagged_left > 0)

    def row_place(self, kind: str, scope: Scope) -> Place:
        """A column to be read through the row that its alias stands for."""
        names = {place.column.name for place in scope.places()}
        place = self.place(cast("Kind", kind), scope)
        if place is None or place.is_outer or place.source.alias in names:
            raise Stuck
        if place.source.is_tagged and self.is_harmless:
            raise Stuck
        return place

    def key(self, scope: Scope) -> str:
        """Something to sort or group by; never a bare number, which would be a position."""
        return self.column("any", scope) or "lower('k')"
