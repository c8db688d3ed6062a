"""A relation as a reading sees it: the names of its columns, and which stored columns each of them may reveal.

Columns have no order here: what a place in the list means (`t(a, b)`, `ORDER BY 2`) is any column of the relation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Sources = frozenset[str]
"""Stored columns, as `schema.table.column`."""

NOTHING: Sources = frozenset()

Output = tuple[str | None, Sources]
"""A column of a result; its name is None where the engine's own rule names it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Columns by name. An open relation may have more of them, which reveal `rest`."""

    columns: Mapping[str, Sources] = field(default_factory=dict[str, Sources])
    rest: Sources = NOTHING
    is_open: bool = False
    hidden: Mapping[str, Sources] = field(default_factory=dict[str, Sources])
    """Row numbers and the like, which have a name and are not part of `*`."""
    twins: Sources = NOTHING
    """Names that several of its columns have. Engines rename all but the first, each by its own rule."""
    everything: Sources = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "everything", self.rest.union(*self.columns.values()))

    def find(self, name: str) -> Sources | None:
        """What the columns of this name reveal; None where none is known."""
        found = self.columns.get(name)
        return self.hidden.get(name) if found is None else found


OPAQUE = Relation(is_open=True)
"""What it reveals was counted already, or is reported as a doubt."""


def relation_of(
    outputs: Iterable[Output], *, rest: Sources = NOTHING, is_open: bool = False, twins: Sources = NOTHING
) -> Relation:
    columns: dict[str, Sources] = {}
    unnamed, again = set(rest), set(twins)
    for name, sources in outputs:
        if name is None:
            is_open = True
            unnamed |= sources
        elif name in columns:
            again.add(name)
            columns[name] |= sources
        else:
            columns[name] = sources
    unnamed.update(*(columns[name] for name in again if name in columns))
    return Relation(columns, frozenset(unnamed), is_open or bool(again), twins=frozenset(again))


def merge(relations: Sequence[Relation]) -> Relation:
    """One relation of all the columns side by side."""
    return relation_of(
        (output for relation in relations for output in relation.columns.items()),
        rest=NOTHING.union(*(relation.rest for relation in relations)),
        is_open=any(relation.is_open for relation in relations),
        twins=NOTHING.union(*(relation.twins for relation in relations)),
    )


def blend(relation: Relation, names: Iterable[str] = ()) -> Relation:
    """With these names besides its own, each of which may mean any of its columns."""
    everything = relation.everything
    return Relation(dict.fromkeys((*relation.columns, *names), everything), everything, is_open=True)
