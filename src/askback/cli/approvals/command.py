"""The command `askback approvals`: what people approved for longer than one call, listed and revoked."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from askback.cli.approvals.rows import ApprovalFilter, as_json, print_approvals
from askback.cli.exits import Exit, Misused
from askback.cli.printer import Printer, print_note
from askback.cli.store.option import StoreVerb, add_store_option, place_of, run_on_store
from askback.cli.subcommands import add_json_option, add_verbs, make_parser, print_json, run_verb
from askback.cli.texts import format_count
from askback.model.safe import safe_text
from askback.runtime.approvals import Approvals
from askback.stores import Store

EXAMPLES = """\
examples:
  export ASKBACK_STORE=sqlite:///tools.db
  askback approvals list                       what is approved now, and for whom
  askback approvals list --caller ada --json
  askback approvals revoke 3f2a9c1b04de        an ID from the list
  askback approvals revoke --caller ada --tool pay
  askback approvals revoke --all

What was revoked is asked again the next time, so this command does not ask
before it revokes.
"""

NO_CHOICE = (
    "Which approvals? Name one as `askback approvals list` does, or say --caller, --tool or --server, or --all for "
    "every one of them. Nothing was revoked."
)
TWO_CHOICES = "--all is every approval of everybody: leave it out, or all other choices. Nothing was revoked."


def main(words: Sequence[str]) -> int:
    """Run it; the exit code is for the shell."""
    options = _parser().parse_args(words)
    return run_verb(lambda options: run_on_store(VERBS[options.verb], options), options)


def _parser() -> ArgumentParser:
    description = "What people approved for longer than one call: which tool, what it covers, and until when."
    parser = make_parser("approvals", description, EXAMPLES)
    verbs = add_verbs(parser)
    listing = verbs.add_parser("list", help="what is approved now")
    revoke = verbs.add_parser("revoke", help="end approvals, so that it is asked again")
    revoke.add_argument("ids", metavar="ID", nargs="*", help="as `list` shows it, or the beginning of one")
    revoke.add_argument("--all", action="store_true", help="every one of everybody")
    for verb in (listing, revoke):
        verb.add_argument("--caller", metavar="WHO", help="only those of this caller")
        verb.add_argument("--tool", metavar="NAME", help="only those for this tool")
        verb.add_argument("--server", metavar="NAME", help="only those for this server")
    add_json_option(listing, revoke)
    add_store_option(listing, revoke)
    return parser


async def _list(options: Namespace, store: Store) -> int:
    wanted = _wanted(options)
    approvals = wanted.choose(await Approvals(store, clock=time.time).rows())
    if options.json:
        return print_json(Exit.DONE, approvals=[as_json(one) for one in approvals])
    if not approvals:  # not wrapped, so that the place can be copied
        Printer().write(f"No approval{wanted.description} holds in {place_of(options.store)}.")
    print_approvals(approvals, Printer())
    return Exit.DONE


async def _revoke(options: Namespace, store: Store) -> int:
    wanted, approvals = _wanted(options), Approvals(store, clock=time.time)
    if options.all == wanted.is_narrow:
        raise Misused(TWO_CHOICES if options.all else NO_CHOICE)
    # Another command may revoke at the same time: only what this one has ended counts.
    revoked = [one for one in wanted.choose(await approvals.rows()) if await approvals.revoke(one)]
    missing = wanted.missing_ids(revoked)
    code = Exit.DONE if revoked and not missing else Exit.FAILED
    if options.json:
        return print_json(code, revoked=[as_json(one) for one in revoked])
    if not revoked:
        print_note(f"No approval{wanted.description} holds in {place_of(options.store)}: none was revoked.")
        return code
    Printer().print(f"Revoked, so it is asked again: {format_count(len(revoked), 'approval')}.")
    print_approvals(revoked, Printer())
    if missing:
        print_note(f"None is called {safe_text(', '.join(missing))}. See `askback approvals list`.")
    return code


VERBS: dict[str, StoreVerb] = {"list": _list, "revoke": _revoke}


def _wanted(options: Namespace) -> ApprovalFilter:
    ids: Sequence[str] = getattr(options, "ids", ())
    return ApprovalFilter(ids=tuple(ids), caller=options.caller, tool=options.tool, server=options.server)
