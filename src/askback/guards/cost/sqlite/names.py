"""Which table a SQLite plan means: it names them by the aliases of the statement, or of a view inside it."""

import re
from collections.abc import Iterator, Sequence

from askback.errors import EstimateFailed
from askback.guards.cost.sqlite.tables import SQLiteTables
from askback.guards.sql.engines.sqlite.tokens import SQLiteToken, cut

WORDS = re.compile(r"\b(?:USING|AS|VIRTUAL|TABLE|SUBQUERY|CONSTANT|LEFT-JOIN|OR)\b")
"""Of SQLite's plans, which do not quote: a name with them could make a plan say something else."""


class PlanNames:
    """Of a statement and of the views that it goes through; the same alias may be given twice.

    An alias is whatever stands behind a name. That finds too many, of which the largest counts, and never too few.
    """

    def __init__(self, tokens: Sequence[SQLiteToken], tables: SQLiteTables) -> None:
        self._named: dict[str, set[str]] = {}
        self._confusing: set[str] = set()
        self._views, self._seen = tables.views, set[str]()
        self._gather(tokens)

    def meant_by(self, alias: str) -> Iterator[str]:
        """All that may stand behind it, in small letters, itself among them."""
        yield alias.lower()
        yield from self._named.get(alias.lower(), ())

    def check(self, line: str) -> None:
        """Raise if a line of a plan has a name in it that could be taken for the plan's own words."""
        for name in self._confusing:
            if name in line:
                raise EstimateFailed(
                    engine="SQLite",
                    problem=f"{name!r:.100} is a name that confuses its plans",
                    advice="Rename it.",
                )

    def _gather(self, tokens: Sequence[SQLiteToken]) -> None:
        names = [token for token in tokens if token != SQLiteToken("word", "as")]
        for token in names:
            if token.kind in {"quoted", "string"} and WORDS.search(token.text):
                self._confusing.add(token.text)
        for token, following in zip(names, [*names[1:], SQLiteToken("symbol", "")], strict=True):
            if token.is_name and following.is_name:
                self._named.setdefault(following.text.lower(), set()).add(token.text.lower())
            if token.is_name and token.text.lower() in self._views:
                self._gather_view(token.text.lower())

    def _gather_view(self, name: str) -> None:
        if name not in self._seen:
            self._seen.add(name)
            self._gather(list(cut(self._views[name])))
