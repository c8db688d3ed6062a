"""A relation as a reading sees it: its columns, and which stored columns each of them may reveal."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Sources = frozenset[str]
"""Stored columns, as `schema.table.column`."""

NOTHING: Sources = frozenset()


class Output(NamedTuple):
    name: str | None  # None: computed, and named by the engine's own rule
    sources: Sources


@dataclass(frozen=True, slots=True)
class Relation:
    """Columns in their order; an open one may have more, which reveal `rest`."""

    outputs: tuple[Output, ...] = ()
    is_open: bool = False
    rest: Sources = NOTHING
    is_shuffled: bool = False  # the engine may have them in another order, or leave some out
    hidden: Mapping[str, Sources] = field(
        default_factory=dict[str, Sources]
    )  # named at will, not part of `*`
    named: dict[str, Sources] = field(init=False)
    everything: Sources = field(init=False)
    other: Sources | None = field(init=False)

    def __post_init__(self) -> None:
        named: dict[str, Sources] = dict(self.hidden)
        nameless: set[str] = set(self.rest)
        loose, has_twins = self.is_open, False
        for name, sources in self.outputs:
            if name is None:
                loose = True
                nameless |= sources
            else:
                known = named.get(name) if name not in self.hidden else None
                has_twins = has_twins or known is not None
                named[name] = known | sources if known else sources
        for name, sources in twins(self.outputs) if has_twins else ():
            named[name] = named.get(name, NOTHING) | sources
        object.__setattr__(self, "named", named)
        object.__setattr__(self, "other", frozenset(nameless) if loose else None)
        object.__setattr__(self, "everything", self.rest.union(*(output.sources for output in self.outputs)))

    @property
    def has_no_order(self) -> bool:
        """Whether nobody can tell which of its columns is the second."""
        return self.is_open or self.is_shuffled

    def but_for(self, left_out: Collection[str]) -> Sources:
        """What its columns reveal, without those of these names."""
        if not left_out:
            return self.everything
        return self.rest.union(*(output.sources for output in self.outputs if output.name not in left_out))

    def find(self, name: str) -> Sources | None:
        """What a column of this name may reveal; None where there is surely none."""
        return self.named.get(name, self.other)


def twins(outputs: Iterable[Output]) -> Iterator[tuple[str, Sources]]:
    """Columns of one name, as engines name all but the first: `email_1` in DuckDB, `email:1` in SQLite."""
    for mark in "_:":
        taken: set[str] = set()
        times: dict[str, int] = {}
        for name, sources in outputs:
            if name is None:
                continue
            own = name
            while own in taken:
                times[name] = times.get(name, 0) + 1
                own = f"{name}{mark}{times[name]}"
            taken.add(own)
            if own != name:
                yield own, sources


OPAQUE = Relation(is_open=True)
"""What it reveals was counted already, or stands among the unresolved."""


def renamed(relation: Relation, names: Sequence[str]) -> Relation:
    """With the names of `t(a, b)` for its first columns."""
    if not names:
        return relation
    if relation.has_no_order or len(names) > len(relation.outputs):
        everything = relation.everything
        return Relation(tuple(Output(name, everything) for name in names), is_open=True, rest=everything)
    first = tuple(Output(name, output.sources) for name, output in zip(names, relation.outputs, strict=False))
    return Relation(first + relation.outputs[len(names) :])


def united(relations: Sequence[Relation], *, by_name: bool = False) -> Relation:
    """The rows of all: column by column, or name by name; where columns cannot be matched, each may be any."""
    if len(relations) == 1:
        return relations[0]
    if by_name or any(relation.has_no_order for relation in relations) or len(widths(relations)) != 1:
        return blended(relations)
    columns: list[set[str]] = [set(output.sources) for output in relations[0].outputs]
    for relation in relations[1:]:
        for column, output in zip(columns, relation.outputs, strict=True):
            column |= output.sources
    names = (output.name for output in relations[0].outputs)
    return Relation(
        tuple(Output(name, frozenset(column)) for name, column in zip(names, columns, strict=True))
    )


def any_of(relations: Sequence[Relation]) -> Relation:
    """One of these, nobody knows which: a column of a name may be that of each."""
    named: dict[str | None, Sources] = {}
    hidden: dict[str, Sources] = {}
    for relation in relations:
        for name, sources in relation.outputs:
            named[name] = named.get(name, NOTHING) | sources
        for name, sources in relation.hidden.items():
            hidden[name] = hidden.get(name, NOTHING) | sources
    for name in named.keys() & hidden.keys():
        named[name] |= hidden.pop(name or "")
    rest = NOTHING.union(*(relation.rest for relation in relations))
    return Relation(
        tuple(Output(*output) for output in named.items()),
        is_open=any(relation.is_open for relation in relations),
        rest=rest,
        is_shuffled=True,
        hidden=hidden,
    )


def widths(relations: Iterable[Relation]) -> set[int]:
    return {len(relation.outputs) for relation in relations}


def blended(relations: Sequence[Relation]) -> Relation:
    everything = NOTHING.union(*(relation.everything for relation in relations))
    names = dict.fromkeys(output.name for relation in relations for output in relation.outputs)
    return Relation(tuple(Output(name, everything) for name in names), is_open=True, rest=everything)
