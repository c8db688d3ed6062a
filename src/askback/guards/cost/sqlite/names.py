"""Which table a SQLite plan means: it names them by the aliases of the statement, or of a view inside it."""

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from askback.errors import EstimateFailed
from askback.guards.cost.sqlite.tables import Tables
from askback.guards.cost.statement import Tree

WORDS = re.compile(r"\b(?:USING|AS|VIRTUAL|TABLE|SUBQUERY|CONSTANT|LEFT-JOIN|OR)\b")
"""Of SQLite's plans, which do not quote: a name with them could make a plan say something else."""


class Names:
    """Of a statement and of the views that it goes through; the same alias may be given twice."""

    def __init__(self, tree: Tree, tables: Tables) -> None:
        self._named: dict[str, set[str]] = {}
        self._views, self._seen = tables.views, set[str]()
        self._gather(tree)

    def meant_by(self, alias: str) -> Iterator[str]:
        """All that may stand behind it, in small letters, itself among them."""
        yield alias.lower()
        yield from self._named.get(alias.lower(), ())

    def _gather(self, tree: Tree) -> None:
        for name in (identifier.name for identifier in tree.find_all(exp.Identifier)):
            if WORDS.search(name):
                raise EstimateFailed(
                    engine="SQLite",
                    problem=f"{name!r:.100} is a name that confuses its plans",
                    advice="Rename it.",
                )
        for table in tree.find_all(exp.Table):
            name = table.name.lower()
            self._named.setdefault(table.alias_or_name.lower(), set()).add(name)
            if name in self._views and name not in self._seen:
                self._seen.add(name)
                self._gather_view(self._views[name])

    def _gather_view(self, definition: str) -> None:
        try:
            self._gather(sqlglot.parse_one(definition, dialect="sqlite"))
        except SqlglotError:
            return  # its aliases stay unknown, and a plan that has them gives no estimate
