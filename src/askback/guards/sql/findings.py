"""What was found out about a statement before anybody is asked; no sentence of it is made here."""

import hashlib
import math
from dataclasses import asdict, dataclass
from typing import Any

from askback.guards.cost import Estimate, Measure
from askback.guards.display import make_legible
from askback.guards.sql.catalogue import SQLCatalogue, digest_of
from askback.guards.sql.engines.engine import Inspection
from askback.guards.sql.names import Dialect
from askback.guards.sql.readings import SQLReading
from askback.guards.sql.statements import QUERIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    statement: str
    dialect: Dialect
    known: SQLCatalogue | None
    """None where no source could tell."""
    reading: SQLReading | None
    """None where there was nothing to read it against."""
    is_priced: bool
    """Whether an estimator was there to be asked."""
    estimate: Estimate | None
    exceeded: tuple[Measure, ...] = ()
    kinds: tuple[str, ...] | None = None
    """The first word of each statement; None where the text cannot be parted into statements."""
    engine: str = ""
    """Name of the engine that found this out; empty where only the text was read."""
    inspection: Inspection | None = None
    """What that engine said; None where it could not be asked."""

    @property
    def is_clear(self) -> bool:
        """Whether nobody needs to be asked: all is known of it, and it is harmless and cheap."""
        is_cheap = not self.is_priced or (self.estimate is not None and not self.exceeded)
        return self.reading is not None and self.reading.is_clear and is_cheap

    @property
    def is_query(self) -> bool:
        """Whether it is one query, understood to its end, that changes nothing."""
        if self.engine:
            found = self.inspection
            return found is not None and found.is_query and found.can_be_planned and not found.doubts
        kinds = self.kinds or ()
        is_plain = self.reading is not None and not self.reading.writes and not self.reading.unresolved
        return len(kinds) == 1 and kinds[0] in QUERIES and is_plain

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.statement.encode(errors="surrogatepass")).hexdigest()

    def facts(self) -> dict[str, Any]:
        """For the ledger, in JSON."""
        reading = self.reading
        return {
            "statement": self.digest,
            "dialect": self.dialect,
            "engine": self.engine or None,
            "catalogue": None if self.known is None else self.known.digest,
            "personal": None if reading is None else dict(reading.personal),
            "writes": None if reading is None else list(map(make_legible, reading.writes)),
            "unresolved": None if reading is None else list(map(make_legible, reading.unresolved)),
            "cost": None if self.estimate is None else asdict(self.estimate),
            "over": list(self.exceeded),
        }

    def scope(self) -> str:
        """What an approval is bound to: this statement, this catalogue, and a cost of the same number of digits."""
        return digest_of(
            self.dialect,
            self.engine,
            self.digest,
            None if self.known is None else self.known.digest,
            None if self.reading is None else [*self.reading.writes, *self.reading.unresolved],
            None if self.inspection is None else sorted(self.inspection.columns),
            self.is_priced,
            None if self.estimate is None else _digits(self.estimate),
            self.exceeded,
        )


def _digits(estimate: Estimate) -> list[int | None]:
    numbers = (estimate.rows, estimate.widest, estimate.bytes, estimate.seconds)
    return [None if number is None else math.floor(math.log10(number + 1)) for number in numbers]
