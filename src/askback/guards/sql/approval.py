"""A statement that a guard let run, with what was found out about it."""

from askback.errors import AuthorError
from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.known import Known


class ApprovedStatement(str):
    """The text of a statement that a guard let run, for `engine.run(...)`.

    It is a `str` and can be given to any driver; then nothing checks that views and tables are still the same.
    """

    __slots__ = ("_known", "inspection")

    _known: Known
    inspection: Inspection
    """What the engine found when the statement was approved."""

    def __new__(cls, text: str, *, inspection: Inspection, known: Known) -> "ApprovedStatement":
        approved = super().__new__(cls, text)
        approved.inspection, approved._known = inspection, known
        return approved

    @property
    def catalogue(self) -> str:
        """Version of the catalogue at that time: a digest of its tables, views and tags."""
        return self._known.digest


def inspection_of(statement: str) -> Inspection:
    """What was approved about a statement; a text that no guard let run is an author's mistake."""
    if not isinstance(statement, ApprovedStatement):
        raise AuthorError(
            "engine.run(...) takes the statement that guard_sql gives to the function it stands before, unchanged. "
            "This is another text, and nobody approved it."
        )
    return statement.inspection
