"""From which cost on a person is asked."""

import math
from dataclasses import dataclass, fields
from typing import Literal

from askback.errors import AuthorError
from askback.guards.cost.estimate import Estimate

Measure = Literal["rows", "bytes", "seconds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLimits:
    """The most that passes without a question, each; None is no limit."""

    rows: float | None = None
    bytes: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            most: float | None = getattr(self, field.name)
            if most is not None and not 0 <= most < math.inf:
                raise AuthorError(
                    f"Limits({field.name}={most!r}) is no limit. Give zero or more, or leave it out."
                )

    def exceeded(self, estimate: Estimate) -> tuple[Measure, ...]:
        """What a person is asked about. A number that the engine does not give counts as too much."""
        told: dict[Measure, tuple[float | None, ...]] = {
            "rows": (estimate.rows, estimate.widest),
            "bytes": (estimate.bytes,),
            "seconds": (estimate.seconds,),
        }
        return tuple(measure for measure, numbers in told.items() if self._is_over(measure, numbers))

    def _is_over(self, measure: Measure, numbers: tuple[float | None, ...]) -> bool:
        most: float | None = getattr(self, measure)
        return most is not None and any(number is None or number > most for number in numbers)
