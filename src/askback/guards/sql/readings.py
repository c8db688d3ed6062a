"""The reading of a statement: what it touches, as far as that can be known without running it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLReading:
    """Everything that a statement touches, and never less: doubts stand in `unresolved`."""

    columns: frozenset[str]
    """All that the result can reveal or a condition can probe, as `schema.table.column`."""
    personal: Mapping[str, str] = field(hash=False)
    """The tagged ones among them, each with its tag."""
    writes: tuple[str, ...]
    """Changes in words: `insert into main.orders`, `drop table`, `set`."""
    unresolved: tuple[str, ...]
    """Doubts, in words that quote the piece that was not understood."""

    @property
    def is_clear(self) -> bool:
        """Whether it reads, changes nothing, touches nothing tagged, and all of it was understood."""
        return not (self.personal or self.writes or self.unresolved)


def make_reading(
    columns: Iterable[str], writes: Iterable[str], unresolved: Iterable[str], tags: Mapping[str, str]
) -> SQLReading:
    found = frozenset(columns)
    return SQLReading(
        columns=found,
        personal=MappingProxyType({name: tags[name] for name in sorted(found & tags.keys())}),
        writes=tuple(writes),
        unresolved=tuple(unresolved),
    )
