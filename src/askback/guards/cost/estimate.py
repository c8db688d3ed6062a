"""What a statement would cost, as its engine estimates it, and from which cost on a person is asked."""

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from askback.errors import AuthorError, EstimateFailed

if TYPE_CHECKING:
    from askback.guards.sql.engines import Engine

Measure = Literal["rows", "bytes", "seconds"]

A_PERSON = "A person has to judge it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a statement would cost. Each number is a guess, more often too high than too low; None is unknown."""

    engine: str
    rows: float | None = None
    """Rows read from tables; a table that is read twice counts twice."""
    widest: float | None = 0.0
    """Rows of the largest step: a cross join reads few rows and makes many. 0 if `rows` already counts them."""
    bytes: float | None = None
    seconds: float | None = None
    cost: float | None = None
    """In the planner's own unit; compare it only with other costs of this engine."""

    def __post_init__(self) -> None:
        _require_amounts(self, *(field.name for field in fields(self)[1:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLimits:
    """Up to these numbers a statement runs without a question; None is no limit."""

    rows: float | None = None
    bytes: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        _require_amounts(self, "rows", "bytes", "seconds")

    def exceeded(self, estimate: Estimate) -> tuple[Measure, ...]:
        """The measures that a person is asked about. A number that the engine does not give counts as too high."""
        numbers: dict[Measure, list[float | None]] = {
            "rows": [estimate.rows, estimate.widest],
            "bytes": [estimate.bytes],
            "seconds": [estimate.seconds],
        }
        return tuple(measure for measure, known in numbers.items() if _is_over(getattr(self, measure), known))


def _require_amounts(value: object, *names: str) -> None:
    for name in names:
        number: float | None = getattr(value, name)
        if number is not None and not 0 <= number < math.inf:
            raise AuthorError(
                f"{type(value).__name__}({name}={number!r}) is no amount. Give zero or more, or leave it out."
            )


def _is_over(most: float | None, numbers: Iterable[float | None]) -> bool:
    return most is not None and any(number is None or number > most for number in numbers)


def add_known(numbers: Iterable[float | None]) -> float | None:
    """The sum; None if one of the numbers is unknown."""
    listed = list(numbers)
    return None if None in listed else float(sum(number for number in listed if number is not None))


class Estimator(Protocol):
    """Estimates what a statement would cost. It runs no part of the statement, and may be called concurrently."""

    async def estimate(self, statement: str) -> Estimate:
        """Raises `EstimateFailed` on any doubt about the statement or the engine."""
        ...


class PlanEstimator(ABC):
    """An estimator that runs EXPLAIN on a statement, once its engine says that this is safe."""

    late_errors: ClassVar[tuple[type[Exception], ...]] = ()
    """What the driver raises if planning takes too long."""
    driver_errors: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    async def estimate(self, statement: str) -> Estimate:
        """The estimate of a statement; raises `EstimateFailed` if it is not safe to plan."""
        with self._driver_errors_as_failures():
            inspection = await self._engine.inspect(statement)
        if not inspection.can_be_planned:
            problem = next(iter(inspection.doubts), "it is no statement with a plan")
            raise EstimateFailed(engine=self._engine.name, problem=problem, advice=A_PERSON)
        return await self.price(statement)

    async def price(self, statement: str) -> Estimate:
        """The estimate of a statement that was inspected and can be planned. Call it for no other."""
        with self._driver_errors_as_failures():
            return await self._plan(statement)

    @abstractmethod
    async def _plan(self, statement: str) -> Estimate: ...

    @contextmanager
    def _driver_errors_as_failures(self) -> Generator[None]:
        engine = self._engine.name
        try:
            yield
        except (TimeoutError, *self.late_errors) as error:
            problem = "it took too long to plan"
            raise EstimateFailed(
                engine=engine, problem=problem, advice="Simplify the statement, or try again."
            ) from error
        except self.driver_errors as error:
            raise EstimateFailed(
                engine=engine, problem=f"{error!s:.300}", advice="Mend the statement, or the connection."
            ) from error
        except PLAN_ERRORS as error:
            raise unknown_plan(engine, error) from error


PLAN_ERRORS = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading a plan raises if its shape is not the known one."""


def unknown_plan(engine: str, error: Exception) -> EstimateFailed:
    """The error for a plan of a version that Askback does not know."""
    return EstimateFailed(
        engine=engine,
        problem=f"its plan is of another shape ({error!r:.100})",
        advice="Tell us of this version; until then a person is asked.",
    )


@dataclass(frozen=True, slots=True)
class CalledEstimator:
    """An author's own function as an estimator: a service that prices queries, a table of known ones."""

    call: Callable[[str], Estimate | Awaitable[Estimate]]

    async def estimate(self, statement: str) -> Estimate:
        """What the function returns; its errors become `EstimateFailed`."""
        name = getattr(self.call, "__qualname__", type(self.call).__name__)
        try:
            answer = self.call(statement)
            estimate = await answer if inspect.isawaitable(answer) else answer
        except EstimateFailed:
            raise
        except Exception as error:
            raise EstimateFailed(
                engine=name,
                problem=f"it raised {error!r:.200}",
                advice="Mend it; until then a person is asked.",
            ) from error
        if not isinstance(estimate, Estimate):  # pyright: ignore[reportUnnecessaryIsInstance] # authors err
            raise EstimateFailed(
                engine=name,
                problem=f"it gave {type(estimate).__name__}",
                advice="Return an askback.guards.cost.Estimate.",
            )
        return estimate
