"""Approvals in rows for a reader and as JSON, and which of them somebody means."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from askback.cli.exits import Misused
from askback.cli.ledger.lines import WORDS, short_id
from askback.cli.printer import Printer, TextRow
from askback.cli.texts import format_iso, format_time, shorten
from askback.model.owners import describe_owner, matches_owner
from askback.model.safe import safe_text
from askback.runtime.approvals import Approval

ID_LENGTH = 12
"""Characters of an approval's name in a list: two that begin alike are not to be expected."""

MAX_TEXT = 300
"""Characters of what it covers, and of the question that it was given to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFilter:
    """Which approvals are meant; the conditions narrow each other."""

    ids: tuple[str, ...] = ()
    caller: str | None = None
    tool: str | None = None
    server: str | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether there is any condition."""
        return self != ApprovalFilter()

    @property
    def description(self) -> str:
        """The conditions as part of a sentence, with a space before each."""
        parts = {"called": " or ".join(self.ids), "of": self.caller, "for": self.tool, "on": self.server}
        return safe_text("".join(f" {word} {value}" for word, value in parts.items() if value))

    def choose(self, approvals: Sequence[Approval]) -> list[Approval]:
        """Those that are meant, sorted for a reader; `Misused` where an id could mean several."""
        fitting = sorted(
            filter(self._fits, approvals), key=lambda one: (describe_owner(one.owner), one.owner, one.granted)
        )
        for id in self.ids:
            _require_one([one for one in fitting if one.name.startswith(id)], id)
        return [one for one in fitting if not self.ids or one.name.startswith(self.ids)]

    def missing_ids(self, found: Sequence[Approval]) -> list[str]:
        """Ids that name none of these approvals."""
        return [id for id in self.ids if not any(one.name.startswith(id) for one in found)]

    def _fits(self, approval: Approval) -> bool:
        is_theirs = self.caller is None or matches_owner(approval.owner, self.caller)
        return is_theirs and self.tool in {None, approval.tool} and self.server in {None, approval.server}


def print_approvals(approvals: Sequence[Approval], printer: Printer) -> None:
    """Print them, caller after caller."""
    for owner, rows in groupby(approvals, key=lambda one: one.owner):
        printer.print(safe_text(describe_owner(owner)), "bold")
        for approval in rows:
            printer.columns([[_rows(approval)]])


def as_json(approval: Approval) -> dict[str, Any]:
    """The members for programs; times in UTC."""
    return {
        "id": approval.name,
        "caller": approval.owner,
        "whose": describe_owner(approval.owner),
        "server": approval.server,
        "tool": approval.tool,
        "covers": approval.covers,
        "message": approval.message,
        "since": format_iso(approval.granted),
        "until": format_iso(approval.until),
        "call": approval.call,
        "word": approval.word,
    }


def _rows(approval: Approval) -> list[TextRow]:
    word = f" {WORDS.get(approval.word, approval.word)}" if approval.word else ""
    times = f"since {format_time(approval.granted)}, until {format_time(approval.until)}"
    return [
        TextRow(f"{safe_text(approval.name[:ID_LENGTH])}  {_place(approval)}  {times}", indent=2),
        TextRow(f"covers: {shorten(approval.covers, MAX_TEXT)}", indent=6),
        TextRow(f'asked: "{shorten(approval.message, MAX_TEXT)}"', indent=6),
        TextRow(safe_text(f"given in call {short_id(approval.call)}{word}"), indent=6),
    ]


def _place(approval: Approval) -> str:
    return safe_text(f"{approval.server}/{approval.tool}")


def _require_one(named: Sequence[Approval], id: str) -> None:
    if len(named) > 1:
        listed = "".join(f"\n  {safe_text(one.name)}  {_place(one)}" for one in named)
        raise Misused(
            f"{len(named)} approvals begin with {safe_text(id)!r}. Type more of the one you mean:{listed}"
        )
