"""`askback approvals`: what people approved for longer than one call, listed and revoked."""

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from askback.cli.console import (
    Exit,
    Misused,
    Printer,
    TextRow,
    format_count,
    format_iso,
    format_time,
    print_note,
    shorten,
)
from askback.cli.ledger_lines import WORDS, short_id
from askback.cli.subcommands import Subcommands, place_of, print_json
from askback.model.owners import describe_owner, matches_owner
from askback.model.safe import safe_text
from askback.runtime.approvals import Approval, Approvals
from askback.stores import Store

EXAMPLES = """\
examples:
  export ASKBACK_STORE=sqlite:///tools.db
  askback approvals list                       what is approved now, and for whom
  askback approvals list --caller ada --json
  askback approvals revoke 3f2a9c1b04de        an ID from the list
  askback approvals revoke --caller ada --tool pay
  askback approvals revoke --all

A revoked approval is asked for again the next time, so this command revokes
without asking you.
"""

NO_CHOICE = (
    "Which approvals? Name one by its ID in `askback approvals list`, or give --caller, --tool or --server, or --all "
    "for every one. Nothing was revoked."
)
TWO_CHOICES = (
    "--all means every approval of everybody: leave out --all, or all other choices. Nothing was revoked."
)

ID_LENGTH = 12
"""Characters of an approval's name in a list."""

MAX_TEXT = 300
"""Characters of what an approval covers, and of its question."""


def main(words: Sequence[str]) -> int:
    """Run the command; gives the exit code."""
    description = "What people approved for longer than one call: which tool, what it covers, and until when."
    commands = Subcommands("approvals", description, EXAMPLES)
    listing = commands.add_on_store("list", _list, "what is approved now", has_json=True)
    help_ = "end approvals, so that it is asked again"
    revoke = commands.add_on_store("revoke", _revoke, help_, has_json=True)
    revoke.add_argument("ids", metavar="ID", nargs="*", help="as `list` shows it, or the beginning of one")
    revoke.add_argument("--all", action="store_true", help="every one of everybody")
    for verb in (listing, revoke):
        verb.add_argument("--caller", metavar="WHO", help="only those of this caller")
        verb.add_argument("--tool", metavar="NAME", help="only those for this tool")
        verb.add_argument("--server", metavar="NAME", help="only those for this server")
    return commands.run(words)


async def _list(options: Namespace, store: Store) -> int:
    wanted = ApprovalFilter(caller=options.caller, tool=options.tool, server=options.server)
    approvals = wanted.choose(await Approvals(store, clock=time.time).rows())
    if options.json:
        return print_json(Exit.DONE, approvals=[as_json(one) for one in approvals])
    if not approvals:  # not wrapped, so that the place can be copied
        Printer().write(f"No approval{wanted.description} holds in {place_of(options.store)}.")
    print_approvals(approvals, Printer())
    return Exit.DONE


async def _revoke(options: Namespace, store: Store) -> int:
    wanted = ApprovalFilter(tuple(options.ids), options.caller, options.tool, options.server)
    approvals = Approvals(store, clock=time.time)
    if options.all == (wanted != ApprovalFilter()):
        raise Misused(TWO_CHOICES if options.all else NO_CHOICE)
    # Another command may revoke at the same time: only approvals that this one ended count.
    revoked = [one for one in wanted.choose(await approvals.rows()) if await approvals.revoke(one)]
    missing = [id for id in wanted.ids if not any(one.name.startswith(id) for one in revoked)]
    code = Exit.DONE if revoked and not missing else Exit.FAILED
    if options.json:
        return print_json(code, revoked=[as_json(one) for one in revoked])
    if not revoked:
        print_note(f"No approval{wanted.description} holds in {place_of(options.store)}: none was revoked.")
        return code
    Printer().print(f"Revoked, so it is asked again: {format_count(len(revoked), 'approval')}.")
    print_approvals(revoked, Printer())
    if missing:
        print_note(f"No approval is called {safe_text(', '.join(missing))}. See `askback approvals list`.")
    return code


@dataclass(frozen=True, slots=True)
class ApprovalFilter:
    """Which approvals are meant: those that fit all conditions."""

    ids: tuple[str, ...] = ()
    caller: str | None = None
    tool: str | None = None
    server: str | None = None

    @property
    def description(self) -> str:
        """The conditions as part of a sentence, with a space before each."""
        parts = {"called": " or ".join(self.ids), "of": self.caller, "for": self.tool, "on": self.server}
        return safe_text("".join(f" {word} {value}" for word, value in parts.items() if value))

    def choose(self, approvals: Sequence[Approval]) -> list[Approval]:
        """The approvals that are meant, by owner; raises `Misused` if an id could mean several."""
        fitting = sorted(
            filter(self._fits, approvals), key=lambda one: (describe_owner(one.owner), one.owner, one.granted)
        )
        for id in self.ids:
            named = [one for one in fitting if one.name.startswith(id)]
            if len(named) > 1:
                listed = "".join(f"\n  {safe_text(one.name)}  {_place(one)}" for one in named)
                count = f"{len(named)} approvals begin with {safe_text(id)!r}"
                raise Misused(f"{count}. Type more of the one you mean:{listed}")
        return [one for one in fitting if not self.ids or one.name.startswith(self.ids)]

    def _fits(self, approval: Approval) -> bool:
        is_theirs = self.caller is None or matches_owner(approval.owner, self.caller)
        return is_theirs and self.tool in {None, approval.tool} and self.server in {None, approval.server}


def print_approvals(approvals: Sequence[Approval], printer: Printer) -> None:
    """Print approvals, caller after caller."""
    for owner, rows in groupby(approvals, key=lambda one: one.owner):
        printer.print(safe_text(describe_owner(owner)), "bold")
        for approval in rows:
            printer.columns([[_rows(approval)]])


def as_json(approval: Approval) -> dict[str, Any]:
    """An approval for programs; times in UTC."""
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
