"""The `askback` command."""

import argparse
from collections.abc import Sequence

from askback.cli.demo import run_demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run what it names; the exit code is for the shell."""
    parser = argparse.ArgumentParser(prog="askback", description="Questions from MCP servers to people.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo", help="one tool on three protocol revisions, with what goes over the wire"
    )
    demo.add_argument("--no", action="store_true", help="let the guest decline instead")
    demo.set_defaults(run=_demo)
    chosen = parser.parse_args(arguments)
    return int(chosen.run(chosen))


def _demo(chosen: argparse.Namespace) -> int:
    return run_demo(declines=chosen.no)
