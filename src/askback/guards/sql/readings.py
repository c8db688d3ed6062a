"""What a statement touches, as far as can be told without running it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLReading:
    """Never less than the engine would do: what could not be told stands in `unresolved`."""

    columns: frozenset[str]
    """All that the result can reveal or a condition can probe, as `schema.table.column`."""
    personal: Mapping[str, str] = field(hash=False)
    """The tagged ones among them, each with its tag."""
    writes: tuple[str, ...]
    """What is changed besides, in words: `insert into main.orders`, `drop table`, `set`."""
    unresolved: tuple[str, ...]
    """What was not understood, in words that quote it."""

    @property
    def is_clear(self) -> bool:
        """Whether it reads, changes nothing, touches nothing tagged, and all of it was understood."""
        return not (self.personal or self.writes or self.unresolved)


def reading_of(
    columns: Iterable[str], writes: Iterable[str], unresolved: Iterable[str], tags: Mapping[str, str]
) -> SQLReading:
    found = frozenset(columns)
    return SQLReading(
        columns=found,
        personal=MappingProxyType({name: tags[name] for name in sorted(found & tags.keys())}),
        writes=tuple(writes),
        unresolved=tuple(unresolved),
    )
