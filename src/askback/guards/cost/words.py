"""An estimate in a person's words: "scans about 48 million rows, 3.1 GB"."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from askback.errors import AuthorError
from askback.guards.cost.estimate import CostLimits, Estimate

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
