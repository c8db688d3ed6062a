"""Approvals as a person reads them, as programs do, and by what somebody types."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from askback.cli.exits import Misused
from askback.cli.ledger.lines import WORDS, short_id, shorten
from askback.cli.printer import Printer, TextRow
from askback.cli.vault.rows import iso, minute
from askback.model.owners import describe_owner, matches_owner
from askback.model.safe import safe_text
from askback.runtime.approvals import Approval

ID = 12
"""Letters of an approval's name in a list: two that begin alike are not to be expected."""

BRIEF = 300
"""Letters of what it covers, and of the question that it was given to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFilter:
    """Which approvals are meant."""

    ids: tuple[str, ...] = ()
    caller: str | None = None
    tool: str | None = None
    server: str | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether anything was said."""
        return self != ApprovalFilter()

    @property
    def words(self) -> str:
        """As a part of a sentence."""
        told = {"called": " or ".join(self.ids), "of": self.caller, "for": self.tool, "on": self.server}
        return safe_text("".join(f" {how} {what}" for how, what in told.items() if what))

    def among(self, approvals: Sequence[Approval]) -> list[Approval]:
        """Sorted for a reader; `Misused` where an id could mean several."""
        fitting = sorted(
            filter(self._fits, approvals), key=lambda one: (describe_owner(one.owner), one.owner, one.granted)
        )
        for id in self.ids:
            _require_one([one for one in fitting if one.name.startswith(id)], id)
        return [one for one in fitting if not self.ids or one.name.startswith(self.ids)]

    def missing(self, found: Sequence[Approval]) -> list[str]:
        """Ids that name none of these."""
        return [id for id in self.ids if not any(one.name.startswith(id) for one in found)]

    def _fits(self, approval: Approval) -> bool:
        is_theirs = self.caller is None or matches_owner(approval.owner, self.caller)
        return is_theirs and self.tool in {None, approval.tool} and self.server in {None, approval.server}


def print_approvals(approvals: Sequence[Approval], paper: Printer) -> None:
    """Caller after caller."""
    for owner, theirs in groupby(approvals, key=lambda one: one.owner):
        paper.print(safe_text(describe_owner(owner)), "bold")
        for one in theirs:
            paper.columns([[_rows(one)]])


def as_json(approval: Approval) -> dict[str, Any]:
    """Times in UTC."""
    return {
        "id": approval.name,
        "caller": approval.owner,
        "whose": describe_owner(approval.owner),
        "server": approval.server,
        "tool": approval.tool,
        "covers": approval.covers,
        "message": approval.message,
        "since": iso(approval.granted),
        "until": iso(approval.until),
        "call": approval.call,
        "word": approval.word,
    }


def _rows(approval: Approval) -> list[TextRow]:
    word = f" {WORDS.get(approval.word, approval.word)}" if approval.word else ""
    return [
        TextRow(f"{safe_text(approval.name[:ID])}  {_where(approval)}  {_when(approval)}", indent=2),
        TextRow(f"covers: {shorten(approval.covers, BRIEF)}", indent=6),
        TextRow(f'asked: "{shorten(approval.message, BRIEF)}"', indent=6),
        TextRow(safe_text(f"given in call {short_id(approval.call)}{word}"), indent=6),
    ]


def _where(approval: Approval) -> str:
    return safe_text(f"{approval.server}/{approval.tool}")


def _when(approval: Approval) -> str:
    return f"since {minute(approval.granted)}, until {minute(approval.until)}"


def _require_one(called: Sequence[Approval], id: str) -> None:
    if len(called) > 1:
        listed = "".join(f"\n  {safe_text(one.name)}  {_where(one)}" for one in called)
        raise Misused(
            f"{len(called)} approvals begin with {safe_text(id)!r}. Type more of the one you mean:{listed}"
        )
