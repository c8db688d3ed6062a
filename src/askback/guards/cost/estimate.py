"""What a statement would cost, as far as its engine tells before it runs. Knows no engine."""

import inspect
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from typing import Protocol, runtime_checkable

from askback.errors import AuthorError, EstimateFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Each number is a guess that rather errs above; None is not known, which is never the same as little."""

    engine: str
    rows: float | None = None
    """Read from tables, as often as they are read."""
    widest: float | None = 0.0
    """Of the step that handles most: a join of everything with everything reads little and makes much. 0 where `rows`
    already counts it."""
    bytes: float | None = None
    seconds: float | None = None
    cost: float | None = None
    """In the planner's own unit, which compares with nothing but itself."""

    def __post_init__(self) -> None:
        for field in fields(self)[1:]:
            number: float | None = getattr(self, field.name)
            if number is not None and not 0 <= number < math.inf:
                raise AuthorError(
                    f"Estimate({field.name}={number!r}) is no amount. Give zero or more, or None where it is not known."
                )


class Estimator(Protocol):
    """Tells what a statement would cost. It runs nothing of the statement, and may be asked many times at once."""

    async def estimate(self, statement: str) -> Estimate:
        """Raises `EstimateFailed` on any doubt about the statement or the engine; never takes doubt for cheap."""
        ...


@runtime_checkable
class PlanEstimator(Estimator, Protocol):
    """An estimator that checks a statement first, and can leave that out where the engine has inspected it."""

    async def price(self, statement: str) -> Estimate:
        """Estimate a statement whose inspection says that it can be planned."""
        ...


PLAN_ERRORS = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading raises where a plan is not of the shape that is known."""


def unknown_plan(engine: str, error: Exception) -> EstimateFailed:
    """A plan of a version that Askback does not know."""
    return EstimateFailed(
        engine=engine,
        problem=f"its plan is of another shape ({error!r:.100})",
        advice="Tell us of this version; until then a person is asked.",
    )


@dataclass(frozen=True, slots=True)
class CalledEstimator:
    """An author's own function in an estimator's place: a service that prices queries, a table of known ones."""

    call: Callable[[str], Estimate | Awaitable[Estimate]]

    async def estimate(self, statement: str) -> Estimate:
        try:
            answer = self.call(statement)
            estimate = await answer if inspect.isawaitable(answer) else answer
        except EstimateFailed:
            raise
        except Exception as error:
            raise EstimateFailed(
                engine=self.name,
                problem=f"it raised {error!r:.200}",
                advice="Mend it; until then a person is asked.",
            ) from error
        if not isinstance(estimate, Estimate):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            raise EstimateFailed(
                engine=self.name,
                problem=f"it gave {type(estimate).__name__}",
                advice="Return an askback.guards.cost.Estimate.",
            )
        return estimate

    @property
    def name(self) -> str:
        return getattr(self.call, "__qualname__", type(self.call).__name__)
