"""The oracle's shop for each engine: the script of either database, and what statements can name there."""

from dataclasses import dataclass

from tests.guards.sql.oracle import shop_duckdb, shop_postgres, shop_sqlite
from tests.guards.sql.oracle.relations import Dialect, Relation, Table, View
from tests.guards.sql.oracle.script import create_table, create_view, insert_rows
from tests.guards.sql.oracle.tables import TABLES
from tests.guards.sql.oracle.views import VIEWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """What makes the two databases of an engine, and what statements can name there."""

    dialect: Dialect
    schema: str = "main"
    before: tuple[str, ...] = ()
    """Statements before there are tables."""
    tables: tuple[Table, ...]
    between: tuple[str, ...] = ()
    """Statements between tables and rows."""
    after: tuple[str, ...]
    """Statements before there are views."""
    views: tuple[View, ...]
    last: tuple[str, ...] = ()
    more: tuple[Relation, ...] = ()
    """What is made by these statements and can stand in FROM."""
    more_tagged: frozenset[str] = frozenset()

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (
            *(table.relation for table in self.tables),
            *(view.relation for view in self.views),
            *self.more,
        )

    @property
    def tagged(self) -> frozenset[str]:
        """Tagged columns as inspections name them. A computed column is not tagged itself: its source is."""
        return self.more_tagged | {
            ".".join((*(table.schema or (self.schema,)), table.name, stored.name))
            for table in self.tables
            for stored in table.columns
            if stored.twin
        }

    def script(self, *, is_twin: bool) -> list[str]:
        """The statements that make one of the two databases."""
        return [
            *self.before,
            *(create_table(table, self.dialect) for table in self.tables),
            *self.between,
            *(insert_rows(table, self.dialect, is_twin=is_twin) for table in self.tables),
            *self.after,
            *map(create_view, self.views),
            *self.last,
        ]


SHOPS: dict[Dialect, Shop] = {
    "duckdb": Shop(
        dialect="duckdb",
        before=shop_duckdb.BEFORE,
        tables=(*TABLES, *shop_duckdb.TABLES),
        after=shop_duckdb.MACROS,
        views=(*VIEWS, *shop_duckdb.VIEWS),
        more=shop_duckdb.CALLS,
    ),
    "postgres": Shop(
        dialect="postgres",
        schema="public",
        before=shop_postgres.BEFORE,
        tables=(*TABLES, *shop_postgres.TABLES),
        between=shop_postgres.BETWEEN,
        after=(*shop_sqlite.INDEXES, *shop_postgres.AFTER),
        views=(*VIEWS, *shop_postgres.VIEWS),
        last=shop_postgres.LAST,
        more=shop_postgres.MORE,
        more_tagged=frozenset({"public.events_eu.note", "public.events_us.note"}),
    ),
    "sqlite": Shop(
        dialect="sqlite",
        tables=(*TABLES, *shop_sqlite.TABLES),
        after=shop_sqlite.INDEXES,
        views=VIEWS,
        last=("ANALYZE c",),
    ),
}
