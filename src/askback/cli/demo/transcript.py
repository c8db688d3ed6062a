"""What a guest answers in the demo, and what went over the wire then, printed as columns without brackets."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from askback.cli.console import Block, Printer, Style, TextRow
from askback.testing import Run, accept, decline
from askback.testing.script import Reply

LEGEND = "-> from the client    <- from the server    (handshakes left out)"

MAX_STRING = 64
"""A longer string that is neither words nor a link is a sealed state, which nobody can read."""

MAX_INLINE = 24
"""Characters of a member that is printed on one line."""

EVERY_REQUEST = {"_meta", "resultType", "structuredContent", "isError"}
"""Members of every message, or that repeat others; they are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswers:
    """The replies of one guest to the questions of all three servers."""

    pizza: str = "Margherita"
    order: Sequence[Reply]
    link: Reply
    query: Reply


WILLING = DemoAnswers(
    order=[accept(drink="cola", tip=2), accept(yes=True)],
    link=accept(),
    query=accept(decision="limit"),
)
RELUCTANT = DemoAnswers(order=[decline()], link=decline(), query=decline())


def print_runs(printer: Printer, title: str, runs: Mapping[str, Run]) -> None:
    """Print a title and one column for each revision."""
    printer.print(title, "bold")
    printer.print(LEGEND, "dim")
    printer.print()
    columns = [_column(revision, run) for revision, run in runs.items()]
    height = max(map(len, columns))
    for blocks in columns:
        # Blank blocks before the last message, so that equal messages stand side by side.
        blocks[-1:-1] = [[]] * (height - len(blocks))
    printer.columns(columns)


def print_verdict(printer: Printer, runs: Iterable[Run]) -> bool:
    """Print whether all runs had the same result, and return it."""
    texts = [run.text for run in runs]
    if len(set(texts)) != 1:
        printer.print(f"The results differ: {', '.join(texts)}", "bold")
        return False
    first, *rest = texts[0].splitlines()
    rows = f", and {len(rest)} rows" if rest else ""
    printer.print(f"The same result on {'both' if len(texts) == 2 else 'all three'}: {first}{rows}", "good")
    return True


def _column(revision: str, run: Run) -> list[Block]:
    start = next(number for number, line in enumerate(run.transcript) if line.what == "tools/call")
    calls = sum(line.what == "tools/call" for line in run.transcript)
    way = "push: 1 call, which waits" if calls == 1 else f"rounds: {calls} calls, none waits"
    head: Block = [TextRow(revision, "bold"), TextRow(way, "dim"), TextRow()]
    blocks: list[Block] = [head]
    for line in run.transcript[start:]:
        style: Style = "there" if line.direction == "->" else "back"
        blocks.append([TextRow(f"{line.direction} {line.what}", style), *_outline(line.body, 3), TextRow()])
    return blocks


def _outline(value: Mapping[str, Any], indent: int) -> Iterator[TextRow]:
    """Nested members as an indented outline."""
    for name, member in value.items():
        if name in EVERY_REQUEST or (name, member) == ("type", "object"):
            continue
        inline = _inline(member)
        if isinstance(member, Mapping) and len(inline) > MAX_INLINE:
            yield TextRow(f"{name}:", indent=indent)
            yield from _outline(cast("Mapping[str, Any]", member), indent + 2)
        elif "\n" in inline:
            yield TextRow(f"{name}:", indent=indent)
            for line in inline.splitlines():
                text = line.lstrip(" ")
                yield TextRow(text, indent=indent + 2 + len(line) - len(text))
        else:
            yield TextRow(f"{name}: {inline}", indent=indent)


def _inline(value: Any) -> str:
    match value:
        case str() if len(value) > MAX_STRING and " " not in value and "://" not in value:
            return f"sealed, {len(value)} characters"
        case bool():
            return str(value).lower()
        case {"type": "text", "text": text}:
            return str(text)
        case Mapping():
            members = cast("Mapping[str, Any]", value)
            return ", ".join(f"{name} = {_inline(member)}" for name, member in members.items())
        case list():
            return ", ".join(map(_inline, cast("list[Any]", value)))
        case _:
            return str(value)
