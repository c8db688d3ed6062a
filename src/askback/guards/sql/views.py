"""Views: read once for a catalogue, as often as statements name them."""

from collections.abc import Callable
from dataclasses import replace

from askback.guards.sql.catalogue import Catalogue, Stored
from askback.guards.sql.place import Account
from askback.guards.sql.relations import OPAQUE, Output, Relation

ReadQuery = Callable[[str, Account], Relation]
"""Reads the text of a view: what its columns reveal; what it probes goes into the account."""


class Views:
    """What each view reveals, probes and hides."""

    def __init__(self, catalogue: Catalogue, read: ReadQuery) -> None:
        self._catalogue = catalogue
        self._read = read
        self._known: dict[str, tuple[Relation, Account]] = {}
        self._open: list[str] = []

    def relation(self, view: Stored, account: Account) -> Relation:
        if view.name in self._open:
            account.puzzle("a view that names itself", view.name)
            return OPAQUE
        if view.name not in self._known:
            self._known[view.name] = self._expand(view)
        relation, within = self._known[view.name]
        account.count(within.read)
        account.writes |= within.writes
        account.unresolved |= {f"view {view.name}: {puzzle}": None for puzzle in within.unresolved}
        return relation

    def _expand(self, view: Stored) -> tuple[Relation, Account]:
        within = Account(is_view=True)
        self._open.append(view.name)
        try:
            relation = self._read(view.query, within)
        finally:
            self._open.pop()
        return self._tagged(view, relation), within

    def _tagged(self, view: Stored, relation: Relation) -> Relation:
        """A column of a view may carry a tag of its own, besides those of what it is made from."""
        own = self._catalogue.view_tags(view)
        if not own:
            return relation
        outputs = [
            Output(
                name,
                sources | {own[name]}
                if name in own
                else sources | set(own.values())
                if name is None
                else sources,
            )
            for name, sources in relation.outputs
        ]
        return replace(relation, outputs=tuple(outputs), rest=relation.rest | set(own.values()))
