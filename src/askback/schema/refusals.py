"""How a question that could never be asked is refused: with the field, the problem, and what to write instead."""

from askback.errors import QuestionRefused


def require(holds: object, *, field: str | None = None, problem: str, instead: str) -> None:
    """Raise `QuestionRefused` unless something holds."""
    if not holds:
        raise QuestionRefused(field=field, problem=problem, instead=instead)
