"""Random queries in the SQL that all engines share. Each dialect adds its own in a subclass of `Writer`."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from random import Random

from tests.guards.sql.oracle.expressions import DEPTHS, ExpressionWriter, Stuck
from tests.guards.sql.oracle.forms import ALIASES
from tests.guards.sql.oracle.relations import Column, Kind, Relation
from tests.guards.sql.oracle.scopes import Query, Scope, Source

NAME = re.compile(r"\b[a-zA-Z_]+\b")
QUOTED = re.compile(r"('[^']*'|\"[^\"]*\"|\[[^]]*\]|`[^`]*`)")


class Writer(ExpressionWriter):
    """Writes statements about a shop. With `is_harmless`, none of them depends on a tagged value."""

    joins: Sequence[str] = (
        "JOIN",
        "JOIN",
        "LEFT JOIN",
        "INNER JOIN",
        "LEFT JOIN",
        "RIGHT JOIN",
        "FULL JOIN",
    )
    calls: Sequence[Relation] = ()
    """Table functions."""
    specials: Sequence[str] = ()
    """Whole statements that the rest of the grammar does not write."""
    blanks: Sequence[str] = ("\n", "\t", "  ", " /* , email */ ", " -- it's\n", "/**/", " /*'*/ ")
    kinds: Sequence[Kind] = ("int", "text", "date", "int", "text", "text")
    limits: Sequence[str] = ("LIMIT 2", "LIMIT 1", "LIMIT 3 OFFSET 1", "LIMIT abs({scalar_int})")

    def __init__(self, random: Random, relations: Sequence[Relation], *, is_harmless: bool = False) -> None:
        super().__init__(random, relations, is_harmless=is_harmless)
        self.known: list[Relation] = []
        """Common table expressions that can be named."""

    def statement(self) -> str:
        """One statement, and nothing remembered of those before."""
        self.tagged_left = 0 if self.is_harmless else self.one_of((0, 1, 1, 1, 2))
        self.touched, self.names, self.known = 0, 0, []
        self.max_depth = self.one_of(DEPTHS)
        special = self.filled(self.specials, self.scope(None), 1) if self.chance(15) else None
        text = special or self.query(None, 0).text
        if not self.is_harmless and self.chance(35 if special else 10):
            text = self.swap_name(text)
        return self.disturb(text)

    def swap_name(self, text: str) -> str:
        """One name in another's place: the engine may find a column where no writer would look for one."""
        known = {
            column.name for relation in self.relations for column in relation.columns if column.name.isalpha()
        }
        places = [match for match in NAME.finditer(text) if match[0].lower() in known | set(ALIASES)]
        if not places:
            return text
        place = self.one_of(places)
        return f"{text[: place.start()]}{self.one_of((*sorted(known), *ALIASES[:-2]))}{text[place.end() :]}"

    def disturb(self, text: str) -> str:
        """Comments and odd blanks between words, outside quotes."""
        if not self.chance(12):
            return text
        parts = QUOTED.split(text)
        parts[::2] = [re.sub(" ", lambda _: self.blank(), part) for part in parts[::2]]
        return "".join(parts)

    def blank(self) -> str:
        return self.one_of(self.blanks) if self.chance(12) else " "

    def scope(self, parent: Scope | None) -> Scope:
        return Scope(parent, ignores_case=self.ignores_case)

    # Queries

    def query(self, parent: Scope | None, depth: int, kinds: Sequence[Kind] | None = None) -> Query:
        """A query, of columns of these kinds where they are given."""
        if depth < self.max_depth and self.chance(22):
            write = self.one_of((self.set_operation, self.with_query, self.set_operation, self.recursive))
            return write(parent, depth, kinds)
        return self.select(parent, depth, kinds)

    def set_operation(self, parent: Scope | None, depth: int, kinds: Sequence[Kind] | None) -> Query:
        kinds = kinds or self.some_kinds()
        left, right = (self.select(parent, depth + 1, kinds, is_part=True) for _ in range(2))
        columns = [
            Column(mine.name, mine.kind, mine.is_tagged or other.is_tagged)
            for mine, other in zip(left.columns, right.columns, strict=True)
        ]
        order = " ORDER BY 1" if self.chance(25) else ""
        return Query(f"{left.text} {self.set_word()} {right.text}{order}", columns)

    def set_word(self) -> str:
        return self.one_of(("UNION", "UNION ALL", "UNION ALL", "EXCEPT", "INTERSECT"))

    def some_kinds(self) -> list[Kind]:
        return [self.one_of(self.kinds) for _ in range(self.random.randint(1, 3))]

    def with_query(self, parent: Scope | None, depth: int, kinds: Sequence[Kind] | None) -> Query:
        inner = self.query(parent, depth + 1)
        name = self.one_of((*ALIASES, self.fresh("q")))
        columns, listed = self.renamed(inner.columns, 30)
        hint = self.one_of(("", "", "", "MATERIALIZED ", "NOT MATERIALIZED "))
        with self.knowing(Relation(name, tuple(columns))):
            outer = self.select(parent, depth + 1, kinds)
        return Query(f"WITH {self.spell(name)}{listed} AS {hint}({inner.text}) {outer.text}", outer.columns)

    def renamed(self, columns: Sequence[Column], percent: float) -> tuple[Sequence[Column], str]:
        """Columns with new names and the list of these; or as they are."""
        names = [column.name.lower() for column in columns]
        if len(set(names)) == len(names) and not self.chance(percent):
            return columns, ""
        fresh = [Column(self.fresh("w"), column.kind, column.is_tagged) for column in columns]
        return fresh, f" ({', '.join(column.name for column in fresh)})"

    def recursive(self, parent: Scope | None, depth: int, kinds: Sequence[Kind] | None) -> Query:
        """A counter that carries one value along."""
        scope = self.scope(parent)
        source = self.from_clause(scope, depth + 1)
        value, is_tagged = self.value("text", scope, depth + 2)
        name, number, carried = self.one_of(ALIASES), self.fresh("n"), self.fresh("v")
        more = self.one_of((carried, f"lower({carried})", f"{carried} || 'x'"))
        with self.knowing(Relation(name, (Column(number, "int"), Column(carried, "text", is_tagged)))):
            outer = self.select(parent, depth + 1, kinds)
        return Query(
            f"WITH RECURSIVE {self.spell(name)}({number}, {carried}) AS "
            f"(SELECT 1, {value} FROM {source} UNION {self.one_of(('', 'ALL '))}"
            f"SELECT {number} + 1, {more} FROM {self.spell(name)} WHERE {number} < 3) {outer.text}",
            outer.columns,
        )

    @contextmanager
    def knowing(self, relation: Relation) -> Generator[None]:
        self.known.append(relation)
        try:
            yield
        finally:
            self.known.remove(relation)

    def scalar(self, kind: Kind, parent: Scope, depth: int) -> str:
        """A query of one value."""
        scope = self.scope(parent)
        source = self.from_clause(scope, depth)
        where = self.where(scope, depth)
        if self.chance(50):
            return f"SELECT {self.write_aggregate(kind, scope, depth)} FROM {source}{where}"
        value = self.expression(kind, scope, depth)
        return f"SELECT {value} FROM {source}{where} ORDER BY {self.key(scope)} LIMIT 1"

    def select(
        self, parent: Scope | None, depth: int, kinds: Sequence[Kind] | None = None, *, is_part: bool = False
    ) -> Query:
        scope = self.scope(parent)
        source = self.from_clause(scope, depth)
        where = self.where(scope, depth)
        if kinds is None and self.chance(20) and (star := self.star(scope, depth)):
            ending = "" if is_part else self.ending(scope, depth)
            return Query(self.frame(star.text, (source, where), ending), star.columns)
        write = self.grouped if self.chance(20) else self.plain
        return write(scope, depth, kinds or self.some_kinds(), (source, where), is_part=is_part)

    def frame(self, items: str, source: tuple[str, str], ending: str) -> str:
        """A SELECT from its parts; `source` is the text of FROM, and the WHERE clause."""
        return f"SELECT {items} FROM {source[0]}{source[1]}{ending}"

    def where(self, scope: Scope, depth: int) -> str:
        return f" WHERE {self.expression('bool', scope, depth + 1)}" if self.chance(32) else ""

    def plain(
        self, scope: Scope, depth: int, kinds: Sequence[Kind], source: tuple[str, str], *, is_part: bool
    ) -> Query:
        items: list[str] = []
        columns: list[Column] = []
        for kind in kinds:
            before = self.touched
            text = self.item(kind, scope, depth)
            columns.append(Column(self.output_name(), kind, self.touched > before))
            items.append(f"{text} AS {self.spell(columns[-1].name)}")
        if not is_part and self.chance(12):
            distinct = self.distinct(scope)
            order = f" ORDER BY {self.random.randint(1, len(items))}" if self.chance(40) else ""
            order = "" if "(" in distinct else order
            return Query(self.frame(f"{distinct}{', '.join(items)}", source, order), columns)
        ending = "" if is_part else self.ending(scope, depth, len(items))
        return Query(self.frame(", ".join(items), source, ending), columns)

    def distinct(self, scope: Scope) -> str:
        return "DISTINCT "

    def item(self, kind: Kind, scope: Scope, depth: int) -> str:
        if kind in self.windows and self.chance(9):
            return self.filled(self.windows[kind], scope, depth) or self.literal(kind)
        return self.expression(kind, scope, depth)

    def output_name(self) -> str:
        return self.one_of(ALIASES) if self.chance(35) else self.fresh("k")

    def grouped(
        self, scope: Scope, depth: int, kinds: Sequence[Kind], source: tuple[str, str], *, is_part: bool
    ) -> Query:
        """Groups by columns, which stand in the select list where their kind is wanted."""
        items: list[str] = []
        keys: list[str] = []
        columns: list[Column] = []
        for kind in kinds:
            before = self.touched
            key = self.column(kind, scope) if self.chance(50) else None
            if key:
                keys.append(key)
            text = key or self.write_aggregate(kind, scope, depth)
            columns.append(Column(self.output_name(), kind, self.touched > before))
            items.append(f"{text} AS {self.spell(columns[-1].name)}")
        if not keys or self.chance(20):
            keys.append(self.key(scope))
        having = f" HAVING {self.write_aggregate('bool', scope, depth)}" if self.chance(25) else ""
        order = " ORDER BY 1" if self.chance(25) and not is_part else ""
        group = f" GROUP BY {self.group(keys)}{having}{order}"
        return Query(self.frame(", ".join(items), source, group), columns)

    def group(self, keys: list[str]) -> str:
        return ", ".join(keys)

    def ending(self, scope: Scope, depth: int, width: int = 0) -> str:
        """ORDER BY and LIMIT."""
        order = limit = ""
        if self.chance(30):
            keys = [self.key(scope), self.key(scope)]
            if width:
                keys += [str(self.random.randint(1, width)), self.expression("text", scope, depth + 1)]
            chosen = self.one_of(keys)
            order = f" ORDER BY {chosen}{self.one_of(('', ' DESC'))}" if not chosen.startswith("'") else ""
        if self.chance(35 if order else 5):
            limit = f" {self.filled(self.limits, scope.parent or self.scope(None), depth + 1) or ''}"
        return order + limit

    def star(self, scope: Scope, depth: int) -> Query | None:
        """A star over all sources or one, where it may be read here."""
        source = self.one_of(scope.sources)
        if self.chance(65) or any(column.name.lower() in source.merged for column in source.columns):
            columns, text = scope.star(), "*"
        else:
            columns, text = list(source.columns), f"{self.spell(source.alias)}.*"
        return self.allowed_star(Query(text, columns), depth)

    def allowed_star(self, star: Query, depth: int) -> Query | None:
        if any(column.is_tagged for column in star.columns):
            if self.is_harmless:
                return None
            if depth == 0 and not self.may_touch(30):
                return None
            if depth == 0:
                self.touch()
        return star

    # FROM

    def from_clause(self, scope: Scope, depth: int) -> str:
        text = self.from_item(scope, depth)
        while len(scope.sources) < 3 and self.chance(24):
            text = self.join(text, scope, depth)
        return text

    def join(self, left: str, scope: Scope, depth: int) -> str:
        before = scope.star()
        right = self.from_item(scope, depth)
        if self.chance(15):
            return f"{left}{self.one_of((', ', ' CROSS JOIN '))}{right}"
        if (shared := self.shared(before, scope)) and self.chance(40):
            return self.join_by_name(left, right, shared, scope)
        return self.join_on(left, self.one_of(self.joins), right, scope, depth)

    def join_on(self, left: str, word: str, right: str, scope: Scope, depth: int) -> str:
        condition = self.expression("bool", scope, depth + 1)
        if "FULL" in word or self.chance(70):
            kind: Kind = self.one_of(("int", "int", "text"))
            condition = f"{self.column(kind, scope) or 0} = {self.column(kind, scope) or 0}"
        return f"{left} {word} {right} ON {condition}"

    def shared(self, before: list[Column], scope: Scope) -> list[Column]:
        """Columns of the last source that one column before has the name and kind of."""
        last = scope.sources[-1]
        names = [scope.fold(column.name) for column in before]
        kinds = {scope.fold(column.name): column for column in before}
        found = [column for column in last.columns if names.count(scope.fold(column.name)) == 1]
        return [
            Column(column.name, column.kind, column.is_tagged or kinds[scope.fold(column.name)].is_tagged)
            for column in found
            if kinds[scope.fold(column.name)].kind == column.kind
        ]

    def join_by_name(self, left: str, right: str, shared: list[Column], scope: Scope) -> str:
        side = self.one_of(("", "", "LEFT "))
        plain = [column for column in shared if not column.is_tagged]
        is_natural = self.can_be_natural(shared, scope) and self.chance(35)
        chosen = shared if is_natural else [self.one_of(plain or shared)]
        if any(column.is_tagged for column in chosen):
            if self.tagged_left <= 0:
                return f"{left}, {right}"
            self.touch()
        scope.sources[-1].merged |= {scope.fold(column.name) for column in chosen}
        if is_natural:
            return f"{left} NATURAL {side}JOIN {right}"
        return f"{left} {side}JOIN {right} USING ({self.spell(chosen[0].name)})"

    def can_be_natural(self, shared: list[Column], scope: Scope) -> bool:
        """Whether the columns of one name all have one kind, and each name stands once on either side."""
        last = scope.sources[-1]
        before = {scope.fold(column.name) for source in scope.sources[:-1] for column in source.columns}
        common = [column for column in last.columns if scope.fold(column.name) in before]
        return len(common) == len(shared) and len(scope.sources) == 2

    def from_item(self, scope: Scope, depth: int) -> str:
        """One item of FROM, entered into the scope."""
        if depth < self.max_depth and self.chance(18):
            return self.derived(scope, depth)
        if self.calls and self.chance(5):
            return self.entered(self.one_of(self.calls), scope)
        if self.chance(4):
            return self.values(scope)
        return self.entered(self.relation(), scope)

    def relation(self) -> Relation:
        """A table, a view or a common table expression, which hides a table of its name."""
        if self.known and self.chance(55):
            return self.known[-1]
        hidden = {relation.name for relation in self.known}
        while True:
            relation = self.one_of(self.relations)
            if relation.name in hidden or (relation.is_opaque and self.is_harmless):
                continue
            if not relation.has_tagged_rows:
                return relation
            if self.may_touch(60):
                self.touch()
                return relation

    def entered(self, relation: Relation, scope: Scope) -> str:
        name = relation.name if relation.is_call else self.spell(relation.name)
        if not relation.is_call and relation.name.lower() not in scope.aliases() and self.chance(30):
            scope.sources.append(Source(relation.name, relation.columns))
            return name
        alias = self.alias(scope)
        columns, listed = relation.columns, ""
        if relation.is_call:
            listed = f"({', '.join(column.name for column in columns)})" if "(" in relation.name else ""
        scope.sources.append(Source(alias, columns))
        return f"{name} AS {self.spell(alias)}{listed}"

    def alias(self, scope: Scope) -> str:
        alias = self.one_of((*ALIASES, self.fresh("s")))
        return alias if scope.fold(alias) not in scope.aliases() else self.fresh("s")

    def derived(self, scope: Scope, depth: int) -> str:
        query = self.query(scope.parent, depth + 1)
        return self.aliased(query, scope)

    def aliased(self, query: Query, scope: Scope, word: str = "") -> str:
        alias = self.alias(scope)
        columns, listed = self.derived_names(query)
        scope.sources.append(Source(alias, columns))
        return f"{word}({query.text}) AS {self.spell(alias)}{listed}"

    def derived_names(self, query: Query) -> tuple[Sequence[Column], str]:
        return self.renamed(query.columns, 20)

    def write_from(self, rest: str, scope: Scope, depth: int) -> str:
        """The sources of a special statement; what follows in its template can name their columns."""
        return self.from_clause(scope, depth)

    def write_star(self, rest: str, scope: Scope, depth: int) -> str:
        if (star := self.star(scope, 0)) is None:
            raise Stuck
        return star.text

    def write_key(self, rest: str, scope: Scope, depth: int) -> str:
        return self.key(scope)

    def values(self, scope: Scope) -> str:
        alias, first, second = self.alias(scope), self.fresh("y"), self.fresh("y")
        scope.sources.append(Source(alias, (Column(first, "int"), Column(second, "text"))))
        return f"(VALUES (1, 'a'), (2, NULL), (3, 'IT')) AS {self.spell(alias)}({first}, {second})"
