"""What a statement would cost, as its engine estimates it, and from which cost on a person is asked.

Words for the person stand here too: "scans about 48 million rows, 3.1 GB".
"""

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


SCALES = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1.0, "count"))

SIZES = ((1e15, "petabytes"), (1e12, "terabytes"), (1e9, "gigabytes"), (1e6, "megabytes"), (1e3, "kilobytes"))
"""By thousands, as disks are sold and clouds bill."""

TIMES = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))

FROM = {"days": 2, "hours": 2, "minutes": 2, "count": 0}
"""From how many of a unit on it is used, where that is not 1: 90 seconds say more than 1.5 minutes."""

MIN_STEP_FACTOR = 3.0
"""How many times more rows than are read the largest step must make to be mentioned; less is within the error of
estimates."""

MIN_STEP_ROWS = 1000
"""Rows from which on a step is mentioned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostWords:
    """One `str.format` template each; a translator replaces them, or subclasses for grammar that they cannot hold."""

    scans: str = "scans about {rows}"
    one_row: str = "1 row"
    many_rows: str = "{number} rows"
    makes: str = "makes about {rows} on the way"
    over: str = "{amount} (more than {limit})"
    rows_unknown: str = "nobody can tell how many rows it handles"
    bytes_unknown: str = "nobody can tell how much it reads"
    seconds_unknown: str = "nobody can tell how long it takes"
    takes: str = "takes about {time}"
    takes_little: str = "takes less than a second"

    count: str = "{number}"
    million: str = "{number} million"
    billion: str = "{number} billion"
    trillion: str = "{number} trillion"
    bytes: str = "{number} bytes"
    kilobytes: str = "{number} KB"
    megabytes: str = "{number} MB"
    gigabytes: str = "{number} GB"
    terabytes: str = "{number} TB"
    petabytes: str = "{number} PB"
    instant: str = "less than a second"
    seconds: str = "{number} seconds"
    minutes: str = "{number} minutes"
    hours: str = "{number} hours"
    days: str = "{number} days"

    between: str = ", "
    thousands: str = ","
    point: str = "."

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_template(field.name, getattr(self, field.name), str(field.default))

    def number(self, number: float) -> str:
        """Two digits that count, from ten thousand down to the ones as they are written: 48, 3.1, 1,200."""
        rounded = float(f"{number:.2g}")
        text = f"{rounded:,.0f}" if rounded >= 10 or rounded.is_integer() else f"{rounded:.2g}"
        return text.translate({ord(","): self.thousands, ord("."): self.point})

    def rows(self, rows: float) -> str:
        if round(rows) == 1:
            return self.one_row
        return self.many_rows.format(number=self._scaled(float(round(rows)), SCALES, "count"))

    def size(self, size: float) -> str:
        return self._scaled(size, SIZES, "bytes")

    def time(self, seconds: float) -> str:
        return self.instant if seconds < 1 else self._scaled(seconds, TIMES, "seconds")

    def describe(self, estimate: Estimate, limits: CostLimits | None = None) -> str:
        """The estimate, with the limits that it exceeds. Unknown bytes and seconds are named if they are limited."""
        limits = limits or CostLimits()
        parts: list[str] = []
        if estimate.rows is not None:
            rows = self._limited(self.rows(estimate.rows), estimate.rows, limits.rows, self.rows)
            parts.append(self.scans.format(rows=rows))
        if estimate.widest and estimate.widest > max(MIN_STEP_ROWS, MIN_STEP_FACTOR * (estimate.rows or 0)):
            rows = self._limited(self.rows(estimate.widest), estimate.widest, limits.rows, self.rows)
            parts.append(self.makes.format(rows=rows))
        if estimate.rows is None or estimate.widest is None:
            parts.append(self.rows_unknown)
        if estimate.bytes is not None:
            parts.append(self._limited(self.size(estimate.bytes), estimate.bytes, limits.bytes, self.size))
        elif limits.bytes is not None:
            parts.append(self.bytes_unknown)
        if estimate.seconds is not None:
            takes = self.takes.format(time=self.time(estimate.seconds))
            takes = self.takes_little if estimate.seconds < 1 else takes
            parts.append(self._limited(takes, estimate.seconds, limits.seconds, self.time))
        elif limits.seconds is not None:
            parts.append(self.seconds_unknown)
        return self.between.join(parts) or self.bytes_unknown

    def _limited(self, amount: str, number: float, most: float | None, say: Callable[[float], str]) -> str:
        return amount if most is None or number <= most else self.over.format(amount=amount, limit=say(most))

    def _scaled(self, amount: float, scales: tuple[tuple[float, str], ...], least: str) -> str:
        for unit, name in scales:
            if float(f"{amount:.2g}") >= unit * FROM.get(name, 1):
                return getattr(self, name).format(number=self.number(amount / unit))
        return getattr(self, least).format(number=self.number(amount))


def _check_template(name: str, template: str, default: str) -> None:
    places = {
        place: "" for place in ("rows", "number", "amount", "limit", "time") if f"{{{place}}}" in default
    }
    try:
        template.format(**places)
    except (LookupError, ValueError) as error:
        known = ", ".join(f"{{{place}}}" for place in places) or "nothing"
        raise AuthorError(f"CostWords.{name} is not a template ({error!r}). It can use: {known}.") from error
