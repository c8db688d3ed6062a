"""What was found out about a statement when it was approved, for the function that runs it."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from askback.errors import AuthorError
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.engines.engine import Inspection


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLApproval:
    """A statement that a guard let run in this call: because a person agreed, or because nobody had to be asked."""

    statement: str
    inspection: Inspection
    """What the engine found."""
    known: SQLCatalogue
    """The catalogue at that time."""

    @property
    def catalogue(self) -> str:
        """Version of the catalogue: a digest of its tables, views and tags."""
        return self.known.digest


MAX_APPROVALS = 100
"""In one task, which may go on for days."""

Key = TypeVar("Key")

_APPROVALS: ContextVar[Mapping[str, SQLApproval]] = ContextVar(
    "askback_sql_approvals", default=MappingProxyType({})
)
"""By the text of the statement, in the task that runs the guarded function."""


def keep_approval(approval: SQLApproval) -> None:
    """Make an approval known to the function that runs next in this task."""
    _APPROVALS.set(add_newest(_APPROVALS.get(), approval.statement, approval))


def add_newest(kept: Mapping[Key, SQLApproval], key: Key, approval: SQLApproval) -> Mapping[Key, SQLApproval]:
    """The approvals with one more, without the oldest where they are many."""
    approvals = dict(kept)
    approvals.pop(key, None)
    approvals[key] = approval
    if len(approvals) > MAX_APPROVALS:
        del approvals[next(iter(approvals))]
    return approvals


def approval_of(statement: str) -> SQLApproval:
    """The approval of a statement, inside of the function that `guard_sql` stands before."""
    approval = _APPROVALS.get().get(statement)
    if approval is None:
        raise AuthorError(
            "This statement was not approved in this call. Give the text on exactly as guard_sql gave it to the "
            "function it stands before, and run it inside of that function."
        )
    return approval
