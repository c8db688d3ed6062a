"""What DuckDB would do already to plan a statement: open files and hosts, and work out what is constant.

Views and macros are not looked into: they are the author's.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from askback.errors import EstimateFailed
from askback.guards.cost.statement import Tree

SERIES = frozenset({"range", "generate_series"})

HARMLESS = SERIES | {"unnest", "explode"}
"""Table functions that planning does not open anything for. Others read a file, a host or a query given as text."""

GROWING = frozenset(
    {"repeat", "lpad", "rpad", "left_pad", "right_pad", "pad", "list_resize", "array_resize", "bitstring"}
)
"""They make a value as large as a number in the statement says, and with constants they make it while planning."""

MOST = 10_000
"""What such a number may be."""

PATH = re.compile(r"[./\\\\:*?]")
"""In a table's name: DuckDB opens a file that is called so, where no table is."""


def check_doors(tree: Tree, known: frozenset[str]) -> None:
    """`known` are tables and views, in small letters."""
    for table in tree.find_all(exp.Table):
        name = table.name.lower()
        if isinstance(table.this, exp.Func):
            if (called := _name(table.this)) not in HARMLESS:
                raise _refused(f"{called}() may open something to be planned", "A person has to judge it.")
        elif PATH.search(name) and name not in known:
            raise _refused(f"{name!r:.100} may be a file or an address", "Give it a view, and name that.")


def check_growth(tree: Tree) -> None:
    """No interruption stops DuckDB while it makes a list of a billion numbers to plan with."""
    for call in tree.find_all(exp.Func):
        name = _name(call)
        if name in SERIES and not isinstance(call.parent, exp.Table):
            raise _refused(f"{name}() makes a list of any length", f"Put {name}() into FROM.")
        if name in GROWING and (_is_nested(call) or max(_numbers(call), default=MOST + 1) > MOST):
            raise _refused(f"{name}() makes a value of any length", f"Give it a number up to {MOST:,}.")


def _is_nested(call: Tree) -> bool:
    return any(_name(inner) in GROWING for inner in call.find_all(exp.Func) if inner is not call)


def _numbers(call: Tree) -> Iterator[float]:
    return (float(part.name) for part in call.find_all(exp.Literal) if not part.is_string)


def _name(call: Tree) -> str:
    written = call.name if isinstance(call, exp.Anonymous) else getattr(call, "sql_name", lambda: "")()
    return written.lower()


def _refused(problem: str, advice: str) -> EstimateFailed:
    return EstimateFailed(engine="DuckDB", problem=problem, advice=advice)
