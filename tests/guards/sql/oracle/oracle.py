"""Finds leaks: statements whose outcome depends on tagged values although their inspection reports nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from askback.guards.sql.engines import Inspection
from tests.guards.sql.oracle.twins import Outcome, Twins

REPEATS = 8
"""How often a statement is run again on each database before its outcomes count as different."""


class Inspector(Protocol):
    """An engine, or what stands for one in a test."""

    async def inspect(self, statement: str) -> Inspection: ...


@dataclass(frozen=True, slots=True)
class Leak:
    """A statement that told the two databases apart without a question."""

    statement: str
    first: Outcome
    twin: Outcome

    def __str__(self) -> str:
        shown = "\n".join(f"  {show(outcome)}" for outcome in (self.first, self.twin))
        return f"{self.statement}\n{shown}"


def show(outcome: Outcome, length: int = 400) -> str:
    if outcome.error is not None:
        return f"error: {' '.join(outcome.error.split())[:length]}"
    return f"{len(outcome.rows)} rows: {outcome.names} {' '.join(outcome.rows)}"[:length]


@dataclass(slots=True)
class Findings:
    """What came of some statements."""

    statements: int = 0
    valid: int = 0
    stopped: int = 0
    asked: int = 0
    doubted: int = 0
    """Those of the asked ones about which there is only a doubt."""
    harmless: int = 0
    needless: list[str] = field(default_factory=list[str])
    """Harmless statements that were asked about."""
    leaks: list[Leak] = field(default_factory=list[Leak])
    failures: list[str] = field(default_factory=list[str])
    """Statements for which the inspection raised an error, with the error. It must have a doubt instead."""

    def add(self, other: "Findings") -> None:
        for name in ("statements", "valid", "stopped", "asked", "doubted", "harmless"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.needless += other.needless
        self.leaks += other.leaks
        self.failures += other.failures

    async def inspect(self, engine: Inspector, statement: str) -> Inspection:
        """Have a statement inspected; an error is noted, and counts as a doubt."""
        try:
            return await engine.inspect(statement)
        except Exception as error:
            self.failures.append(f"{statement}\n  {type(error).__name__}: {error}")
            return Inspection(doubts=("The inspection failed.",))

    @property
    def needless_percent(self) -> float:
        return 100 * len(self.needless) / max(1, self.harmless)

    def __str__(self) -> str:
        parts = {"valid": self.valid, "asked": self.asked, "asked only in doubt": self.doubted}
        shares = ", ".join(
            f"{100 * part / max(1, self.statements):.1f} % {name}" for name, part in parts.items()
        )
        return (
            f"{self.statements} statements, {shares}, {self.stopped} stopped, "
            f"{self.needless_percent:.2f} % needless of {self.harmless} harmless, {len(self.leaks)} leaks, "
            f"{len(self.failures)} failures"
        )


def is_asked(inspection: Inspection, tagged: frozenset[str]) -> bool:
    return bool(inspection.doubts or inspection.writes or inspection.columns & tagged)


async def find_leak(engine: Inspector, twins: Twins, statement: str) -> Leak | None:
    """The leak that a statement is, if it is one."""
    if is_asked(await engine.inspect(statement), twins.shop.tagged):
        return None
    return await compare(twins, statement, await twins.run(statement))


async def compare(twins: Twins, statement: str, first: Outcome) -> Leak | None:
    twin = await twins.run(statement, on_twin=True)
    if first == twin or first.is_stopped or twin.is_stopped:
        return None
    return None if await is_unsteady(twins, statement, first, twin) else Leak(statement, first, twin)


async def is_unsteady(twins: Twins, statement: str, first: Outcome, twin: Outcome) -> bool:
    """Whether one database gives now this and now that, as its twin does: rows that an ORDER BY does not tell apart."""
    firsts = {first, *[await twins.run(statement) for _ in range(REPEATS)]}
    others = {twin, *[await twins.run(statement, on_twin=True) for _ in range(REPEATS)]}
    return bool(firsts & others)


async def find_leaks(engine: Inspector, twins: Twins, statements: Iterable[str]) -> Findings:
    """Inspect each statement, run it, and run it on the twin too where nothing was reported."""
    findings = Findings()
    for statement in statements:
        inspection = await findings.inspect(engine, statement)
        first = await twins.run(statement)
        findings.statements += 1
        findings.valid += first.is_accepted
        findings.stopped += first.is_stopped
        if is_asked(inspection, twins.shop.tagged):
            findings.asked += 1
            findings.doubted += not (inspection.writes or inspection.columns & twins.shop.tagged)
        elif leak := await compare(twins, statement, first):
            findings.leaks.append(leak)
    return findings


async def find_needless(engine: Inspector, twins: Twins, statements: Iterable[str]) -> Findings:
    """Count harmless statements that are asked about. One whose outcome differs is not harmless, and is left out.

    Neither is one whose rows come in another order, as from an index on a tagged column: the order tells its values.
    Neither is one that the engine refuses: a question about it costs nobody a result.
    """
    findings = Findings()
    for statement in statements:
        first, twin = await twins.run(statement), await twins.run(statement, on_twin=True)
        if first != twin or first.arrival != twin.arrival or not first.is_accepted:
            continue
        findings.harmless += 1
        if is_asked(await findings.inspect(engine, statement), twins.shop.tagged):
            findings.needless.append(statement)
    return findings
