"""Approvals: what an engine found in a statement, kept for the function that runs it."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType

from askback.errors import AuthorError
from askback.guards.sql.catalogue import SQLCatalogue
from askback.guards.sql.engines.engine import Inspection


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLApproval:
    """A statement that a guard let run in this call: because a person agreed, or because nobody had to be asked."""

    statement: str
    inspection: Inspection
    """The engine's inspection."""
    known: SQLCatalogue
    """The catalogue at that time."""

    @property
    def catalogue(self) -> str:
        """Version of the catalogue: a digest of its tables, views and tags."""
        return self.known.digest


MAX_APPROVALS = 200
"""In one task, which may go on for days; two for each statement that may run."""

APPROVED = 0
"""In the place of an assessor's id, in the key of an approval that was given."""

_APPROVALS: ContextVar[Mapping[tuple[int, str], SQLApproval]] = ContextVar(
    "askback_sql_approvals", default=MappingProxyType({})
)
"""By the id of an assessor and the text of the statement: what its engine found in this task, before somebody agrees.
The function that runs the statement gets what its own call was asked about, whatever another call has since found."""


def keep_approval(assessor: int, approval: SQLApproval) -> None:
    """Keep what an assessor's engine found, without the oldest where there are many."""
    key = (assessor, approval.statement)
    approvals = {kept: other for kept, other in _APPROVALS.get().items() if kept != key} | {key: approval}
    if len(approvals) > MAX_APPROVALS:
        del approvals[next(iter(approvals))]
    _APPROVALS.set(approvals)


def give_approval(assessor: int, statement: str) -> None:
    """Make what an assessor's engine found known to the function that runs next in this task."""
    approval = _APPROVALS.get().get((assessor, statement))
    if approval is not None:
        keep_approval(APPROVED, approval)


def approval_of(statement: str) -> SQLApproval:
    """The approval of a statement, inside of the function that `guard_sql` stands before."""
    approval = _APPROVALS.get().get((APPROVED, statement))
    if approval is None:
        raise AuthorError(
            "This statement was not approved in this call. Give the text on exactly as guard_sql gave it to the "
            "function it stands before, and run it inside of that function."
        )
    return approval
