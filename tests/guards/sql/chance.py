"""Random schemas and random queries over them, most of which DuckDB accepts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

NAMES = ["a", "b", "c", "d", "e"]
TABLES = ["t", "u", "v"]
DEEPEST = 3


def schema(random: Random) -> dict[str, list[str]]:
    """A few tables whose columns, all integers, share some names."""
    tables = random.sample(TABLES, random.randint(1, 3))
    return {table: random.sample(NAMES, random.randint(2, 4)) for table in tables}


@dataclass
class Known:
    """What a query can name where it is written: aliases with their columns."""

    tables: dict[str, list[str]]
    seen: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    around: "Known | None" = None
    depth: int = 0
    star: list[str] = field(default_factory=list[str])


class Writer:
    """Writes one query; asks chance at every turn."""

    def __init__(self, random: Random, tables: dict[str, list[str]]) -> None:
        self.random = random
        self.tables = tables
        self.aliases = 0

    def query(self) -> str:
        text, _ = self.relation(Known(self.tables))
        return text

    def relation(self, known: Known) -> tuple[str, list[str]]:
        """A query and the names of its columns."""
        if known.depth >= DEEPEST:
            return self.select(known)
        return self.one_of(self.select, self.select, self.select, self.union, self.with_)(known)

    def one_of(self, *ways: Callable[..., tuple[str, list[str]]]) -> Callable[..., tuple[str, list[str]]]:
        return self.random.choice(ways)

    def chance(self, percent: int) -> bool:
        return self.random.randint(1, 100) <= percent

    def alias(self) -> str:
        self.aliases += 1
        return f"x{self.aliases}"

    def deeper(self, known: Known) -> Known:
        return Known(known.tables, {}, known, known.depth + 1)

    def with_(self, known: Known) -> tuple[str, list[str]]:
        inner, columns = self.relation(self.deeper(known))
        name = self.random.choice([*TABLES, self.alias()])
        fresh = [f"{name}_{column}" for column in range(len(columns))]
        outer = Known(known.tables | {name: fresh}, {}, known.around, known.depth + 1)
        text, outputs = self.relation(outer)
        return f"WITH {name}({', '.join(fresh)}) AS ({inner}) {text}", outputs

    def union(self, known: Known) -> tuple[str, list[str]]:
        left, columns = self.relation(self.deeper(known))
        right, others = self.relation(self.deeper(known))
        width = min(len(columns), len(others))
        names = [f"k{position}" for position in range(width)]
        parts = [self.narrowed(text, own, names) for text, own in ((left, columns), (right, others))]
        word = self.random.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
        return f"{parts[0]} {word} {parts[1]}", names

    def narrowed(self, text: str, columns: list[str], names: list[str]) -> str:
        alias = self.alias()
        fresh = ", ".join([*names, *(f"rest{position}" for position in range(len(columns) - len(names)))])
        return f"SELECT {', '.join(names)} FROM ({text}) AS {alias}({fresh})"

    def source(self, known: Known) -> str:
        """One relation of FROM, entered under its alias."""
        alias = self.alias()
        if known.depth < DEEPEST and self.chance(35):
            text, columns = self.relation(self.deeper(known))
            fresh = [f"{alias}_{position}" for position in range(len(columns))]
            known.seen[alias] = fresh
            return f"({text}) AS {alias}({', '.join(fresh)})"
        table = self.random.choice(sorted(known.tables))
        known.seen[alias] = known.tables[table]
        return f"{table} AS {alias}"

    def joined(self, known: Known) -> str:
        text = self.source(known)
        known.star = [column for columns in known.seen.values() for column in columns]
        if self.chance(45):
            before = [column for columns in known.seen.values() for column in columns]
            right = self.source(known)
            added = list(known.seen.values())[-1]
            shared = sorted(set(before) & set(added))
            if shared and len(before) == len(set(before)) and self.chance(40):
                key = self.random.choice(shared)
                known.star = before + [column for column in added if column != key]
                return f"{text} JOIN {right} USING ({key})"
            known.star = before + added
            side = self.random.choice(["JOIN", "LEFT JOIN", "FULL JOIN"])
            return f"{text} {side} {right} ON {self.column(known)} = {self.column(known)}"
        return text

    def column(self, known: Known) -> str:
        place = known
        while place.around is not None and place.around.seen and self.chance(15):
            place = place.around
        alias = self.random.choice(sorted(place.seen))
        column = self.random.choice(place.seen[alias])
        once = sum(column in columns for columns in place.seen.values()) == 1
        return column if once and place is known and self.chance(50) else f"{alias}.{column}"

    def value(self, known: Known) -> str:
        shape = self.random.randint(1, 10)
        if shape <= 6:
            return self.column(known)
        if shape <= 8:
            return f"{self.column(known)} + coalesce({self.column(known)}, 0)"
        if shape == 9 and known.depth < DEEPEST:
            text, columns = self.relation(self.deeper(known))
            return f"(SELECT max({columns[0]}) FROM ({text}) AS {self.alias()}({', '.join(columns)}))"
        return f"CASE WHEN {self.column(known)} > 1 THEN {self.column(known)} ELSE {self.random.randint(0, 3)} END"

    def condition(self, known: Known) -> str:
        shape = self.random.randint(1, 8)
        if shape > 2 or known.depth >= DEEPEST:
            return f"{self.value(known)} {self.random.choice(['<', '=', '>', '<>'])} {self.value(known)}"
        text, columns = self.relation(self.deeper(known))
        if shape == 1:
            return f"{self.random.choice(['', 'NOT '])}EXISTS ({text})"
        one = f"SELECT {columns[-1]} FROM ({text}) AS {self.alias()}({', '.join(columns)})"
        return f"{self.value(known)} {self.random.choice(['', 'NOT '])}IN ({one})"

    def select(self, known: Known) -> tuple[str, list[str]]:
        source = self.joined(known)
        where = f" WHERE {self.condition(known)}" if self.chance(35) else ""
        shape = self.random.randint(1, 10)
        if shape <= 2:
            return f"SELECT * FROM {source}{where}", known.star
        if shape <= 4:
            keys = [self.column(known) for _ in range(self.random.randint(1, 2))]
            having = f" HAVING count({self.column(known)}) > 1" if self.chance(30) else ""
            groups = ", ".join(f"{key} AS g{position}" for position, key in enumerate(keys))
            grouped = f"FROM {source}{where} GROUP BY {', '.join(keys)}{having}"
            return f"SELECT {groups}, max({self.value(known)}) AS m {grouped}", [
                *(f"g{position}" for position in range(len(keys))),
                "m",
            ]
        items = [self.item(known) for _ in range(self.random.randint(1, 3))]
        names = [f"o{position}" for position in range(len(items))]
        listed = ", ".join(f"{item} AS {name}" for item, name in zip(items, names, strict=True))
        distinct = "DISTINCT " if self.chance(15) else ""
        last = " ORDER BY ALL LIMIT 2" if self.chance(20) else ""
        return f"SELECT {distinct}{listed} FROM {source}{where}{last}", names

    def item(self, known: Known) -> str:
        if self.chance(12):
            return f"rank() OVER (PARTITION BY {self.column(known)} ORDER BY {self.column(known)})"
        return self.value(known)
