"""Readings that were made before, so that a statement seen again costs next to nothing."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple, get_args

from askback.errors import AuthorError
from askback.guards.sql.catalogue import Catalogue
from askback.guards.sql.names import Dialect
from askback.guards.sql.place import Account
from askback.guards.sql.queries import Queries
from askback.guards.sql.quiet import quiet
from askback.guards.sql.reading import Reading
from askback.guards.sql.relations import Relation
from askback.guards.sql.statements import Statements
from askback.guards.sql.views import Views

MOST_READINGS = 512
"""For each catalogue. An agent repeats itself within an hour, not within a year."""

MOST_CATALOGUES = 16
"""Databases that one server guards, and a few versions of each."""


class Given(NamedTuple):
    """A catalogue as the caller gives it; compared part by part, which is quicker than a digest.

    The order of columns is part of it: `t(a, b)` and UNION go by position.
    """

    dialect: Dialect
    tables: Mapping[str, Mapping[str, str]]
    views: Mapping[str, str]
    tagged: Mapping[str, str]

    def is_same(self, other: "Given") -> bool:
        return self == other and all(
            map(same_order, self.tables.values(), (other.tables[name] for name in self.tables))
        )

    def kept(self) -> "Given":
        tables = {name: dict(columns) for name, columns in self.tables.items()}
        return Given(self.dialect, tables, dict(self.views), dict(self.tagged))


def same_order(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return list(one) == list(other)


class Readings:
    """Reads statements against one catalogue, each once."""

    def __init__(self, given: Given) -> None:
        self.given = given.kept()
        self.catalogue = Catalogue(
            dialect=given.dialect, tables=given.tables, views=given.views, tagged=given.tagged
        )
        self._statements = Statements(Queries(self.catalogue, Views(self.catalogue, self._read_view)))
        self._known: OrderedDict[bytes, Reading] = OrderedDict()
        self._lock = Lock()

    def read(self, statement: str) -> Reading:
        digest = hashlib.sha256(statement.encode(errors="surrogatepass")).digest()
        with self._lock:
            if digest in self._known:
                self._known.move_to_end(digest)
                return self._known[digest]
            reading = self._read(statement)
            self._known[digest] = reading
            if len(self._known) > MOST_READINGS:
                self._known.popitem(last=False)
            return reading

    def _read(self, statement: str) -> Reading:
        account = Account()
        self._statements.read(statement, account)
        tags = self.catalogue.tags
        return Reading(
            columns=frozenset(account.read),
            personal=MappingProxyType({name: tags[name] for name in sorted(account.read & tags.keys())}),
            writes=tuple(account.writes),
            unresolved=tuple(account.unresolved),
        )

    def _read_view(self, text: str, account: Account) -> Relation:
        return self._statements.read_query(text, account)


class Memory:
    """The catalogues seen lately."""

    def __init__(self) -> None:
        self._known: list[Readings] = []
        self._lock = Lock()

    def readings(self, given: Given) -> Readings:
        with self._lock:
            for readings in self._known:
                if readings.given.is_same(given):
                    return readings
            readings = self._made(given)
            self._known = [readings, *self._known[: MOST_CATALOGUES - 1]]
            return readings

    def _made(self, given: Given) -> Readings:
        try:
            return Readings(given)
        except (TypeError, ValueError, AttributeError) as error:
            raise AuthorError(
                'The catalogue is not of the form tables={"schema.table": {"column": "type"}}, '
                'views={"schema.view": "select …"}, tagged={"schema.table.column": "tag"}.'
            ) from error


NONE: Mapping[str, str] = MappingProxyType({})

MEMORY = Memory()
"""Of this process. It holds digests of statements, and no statement."""


def read(
    statement: str,
    *,
    dialect: Dialect,
    tables: Mapping[str, Mapping[str, str]],
    views: Mapping[str, str] = NONE,
    tagged: Mapping[str, str] = NONE,
) -> Reading:
    """What this text of one or more statements touches. No text makes it raise: a broken one is `unresolved`.

    Names in `tables` (`schema.table` to its columns and their types), `views` (`schema.view` to its query) and `tagged`
    (`schema.table.column` to its tag) are spelled as the engine keeps them.
    """
    if not isinstance(statement, str):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
        raise AuthorError(f"A statement is a text, and {type(statement).__name__} is none.")
    if dialect not in get_args(Dialect):
        raise AuthorError(
            f"dialect={dialect!r} is not one that Askback reads. Give one of {get_args(Dialect)}."
        )
    with quiet():
        return MEMORY.readings(Given(dialect, tables, views, tagged)).read(statement)
