"""Where a writer's chain stands while the ledger is read, and which of its lines have not been met."""

from dataclasses import dataclass, field

from askback.ledger.chain import LedgerLine
from askback.ledger.heads import Head


@dataclass(slots=True)
class Chain:
    """Where a writer's chain stands by now."""

    n: int = 0
    mac: str = ""
    last: int = 0
    number: int = 0
    jumps: list["Jump"] = field(default_factory=list["Jump"])

    def advance(self, line: LedgerLine) -> None:
        self.n, self.mac, self.last, self.number = line.n, line.mac, line.last, line.number

    def head(self) -> Head:
        return Head(self.n, self.mac, self.number)


@dataclass(slots=True)
class Jump:
    """Lines of a writer that should stand between two others, or before the first."""

    since: int
    n: int
    previous: str
    came_later: int = 0
    is_trimmed: bool = False

    @property
    def is_explained(self) -> bool:
        return self.is_trimmed or 0 < self.n - self.since - 1 == self.came_later

    def compare(self, cut: "Head") -> None:
        self.is_trimmed = self.is_trimmed or (cut.n == self.n - 1 and cut.mac == self.previous)
