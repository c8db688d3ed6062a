"""The rules of the house: floors, names, nouns, protocols, sizes, docstrings. A failing test lists every break."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from scripts.patches import patch_rows
from tests.support.paths import ROOT
from tests.support.replaced_attributes import replaced_lines

PACKAGE = ROOT / "src" / "askback"

FLOORS = [
    {"errors", "model", "schema"},
    {"answers", "runtime"},
    {"protocol", "stores", "vault", "ledger", "oauth"},
    {"server", "pages", "guards", "verbs", "sync", "askback"},
    {"client"},
    {"testing", "cli"},
]
"""From the ground up. `askback` is `__init__.py`, which gathers the public names."""

KEPT_APART = [("client", "server"), ("client", "guards")]
"""The first imports nothing of the second, whichever floor it is on."""

EXTRAS = [
    "ada_url",
    "asyncpg",
    "authlib",
    "duckdb",
    "fastmcp",
    "itsdangerous",
    "jinja2",
    "joserfc",
    "prompt_toolkit",
    "publicsuffixlist",
    "pytest",
    "redis",
    "sqlglot",
]
"""All but those that `mcp` brings along anyway: cryptography, idna, python-multipart, starlette, uvicorn."""

WIRE_WORDS = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
    "elicitation/create",
    "elicitationId",
    "inputRequests",
    "inputResponses",
    "input_required",
    "requestState",
    "requestedSchema",
    "requiredCapabilities",
    "resultType",
]

MAY_SPELL_THEM = {
    "protocol": "this is where they are spelled",
    "testing": "a test names the revision it wants, as the specification does",
    "cli": "the demo shows a person what went over the wire",
}

SHARED_CLASS_NAMES: set[str] = set()
"""Class names that stand for two things. This list may only shrink."""

NOT_NOUNS: set[str] = set()
"""Modules named by an activity. This list may only shrink."""

FOR_AUTHORS = {
    "Engine": "an engine of one's own judges statements",
    "Estimator": "what one's own database says a statement costs",
    "Person": "whoever writes a client answers in a way of their own",
    "Source": "a catalogue of one's own tells which columns are sensitive",
    "Store": "a store of one's own",
}
"""Protocols with fewer than two implementations here: an author implements them."""

PATCHES = Path("server", "hosts", "patches.py")
CHECKS = {"require", "_replace", "_replace_bound"}
"""What a patch calls so that a missing attribute is named."""

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40

Tree = tuple[Path, ast.Module]


def trees() -> Iterator[Tree]:
    for module in sorted(PACKAGE.rglob("*.py")):
        yield module.relative_to(PACKAGE), ast.parse(module.read_text())


TREES = list(trees())


def part_of(module: Path) -> str:
    first = module.parts[0].removesuffix(".py")
    return "askback" if first == "__init__" else first


def floor_of(part: str) -> int:
    return next(number for number, parts in enumerate(FLOORS) if part in parts)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_of(tree: ast.Module) -> Iterator[str]:
    """The parts of the package that a module imports when it runs; imports for type checkers alone do not count."""
    for_types = {id(inner) for node in ast.walk(tree) if is_type_checking(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "askback":
                first = rest.partition(".")[0]
                is_module = (PACKAGE / first).is_dir() or (PACKAGE / f"{first}.py").is_file()
                yield first if first and is_module else "askback"


def classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for module, tree in TREES:
        yield from ((module, node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def name_of_base(base: ast.expr) -> str:
    node = base.value if isinstance(base, ast.Subscript) else base
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_every_part_of_the_package_has_its_floor():
    found = {part_of(module) for module, _ in TREES}
    assert found == set().union(*FLOORS)
    assert len(found - {"askback"}) <= 18, "A new part belongs into one that is there."


def test_a_module_imports_from_its_own_floor_or_below():
    wrong = [
        f"{module} imports askback.{known}: move the noun that both need further down"
        for module, tree in TREES
        for known in set(imports_of(tree))
        if floor_of(known) > floor_of(part_of(module)) or (part_of(module), known) in KEPT_APART
    ]
    assert not wrong, "\n".join(wrong)


def test_a_class_name_stands_for_one_thing():
    places: dict[str, list[str]] = defaultdict(list)
    for module, node in classes():
        places[node.name].append(str(module))
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert not {name: where for name, where in shared.items() if name not in SHARED_CLASS_NAMES}
    assert set(shared) >= SHARED_CLASS_NAMES, "Take these from the list: they stand for one thing now."


def test_a_module_is_named_by_a_noun():
    gerunds = {str(module) for module, _ in TREES if module.stem.endswith("ing") and module.stem != "keyring"}
    assert gerunds == NOT_NOUNS


def test_a_protocol_has_two_implementations_or_is_an_authors_to_implement():
    protocols = {
        node.name: module for module, node in classes() if "Protocol" in map(name_of_base, node.bases)
    }
    implementations: dict[str, list[str]] = defaultdict(list)
    members = {
        node.name: {
            item.name for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        for _, node in classes()
    }
    fields = {
        node.name: {
            item.target.id
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        }
        for _, node in classes()
    }
    for protocol in protocols:
        for _, node in classes():
            has = members[node.name] | fields[node.name]
            inherits = protocol in map(name_of_base, node.bases)
            if node.name not in protocols and (inherits or members[protocol] <= has):
                implementations[protocol].append(node.name)
    lonely = {
        f"{protocol} in {module}: {implementations[protocol]}"
        for protocol, module in protocols.items()
        if len(implementations[protocol]) < 2 and protocol not in FOR_AUTHORS
    }
    assert not lonely, "Use the class itself:\n" + "\n".join(sorted(lonely))


def test_no_module_and_no_function_is_too_long():
    long = [
        f"{module}: {lines} lines"
        for module, _ in TREES
        if (lines := len((PACKAGE / module).read_text().splitlines())) > MAX_MODULE_LINES
    ]
    for module, tree in TREES:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                lines = node.end_lineno - node.lineno + 1
                if lines - lines_of_docstring(node) - lines_of_signature(node) > MAX_FUNCTION_LINES:
                    long.append(f"{module}: {node.name} has {lines} lines")
    assert not long, "\n".join(long)


def lines_of_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Arguments of a public verb are explained one by one, which is no complexity."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return (first.end_lineno or first.lineno) - first.lineno + 1 if is_docstring else 0


def lines_of_signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """A public function may take many keywords, one to a line."""
    return node.body[0].lineno - node.lineno


def test_the_first_sentence_of_a_docstring_is_understood_alone():
    bent = [
        f"{module}:{node.lineno} {first}"
        for module, tree in TREES
        for node, first in first_sentences(tree)
        if first.startswith(("The same", "Of ", "As above", "Likewise", "Those ", "That ", "Neither "))
    ]
    assert not bent, "\n".join(bent)


def first_sentences(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module):
            if text := ast.get_docstring(node):
                yield tree.body[0], text.splitlines()[0]
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield node, text.splitlines()[0]


def test_only_the_module_of_patches_replaces_attributes_of_other_packages():
    wrong = [
        f"{module}:{line}: write a patch_...() in server/hosts/patches.py"
        for module, _ in TREES
        if module != PATCHES
        for line in replaced_lines((PACKAGE / module).read_text())
    ]
    assert not wrong, "\n".join(wrong)


def test_a_patch_says_what_it_replaces_and_checks_that_it_is_there():
    tree = next(tree for module, tree in TREES if module == PATCHES)
    unchecked = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("patch_")
        if not {"require", "_replace", "_replace_bound"}
        & {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    ]
    assert not unchecked
    unsaid = [row.function for row in patch_rows() if not row.what.count("`") or not row.why]
    assert not unsaid
    assert len([*patch_rows()]) > 15


def test_wire_words_are_spelled_where_the_protocol_is():
    wrong = [
        f"{module} spells {word}: take it from askback.protocol"
        for module, tree in TREES
        if part_of(module) not in MAY_SPELL_THEM
        for text in strings_of(tree)
        for word in WIRE_WORDS
        if word in text
    ]
    assert not wrong, "\n".join(wrong)


def strings_of(tree: ast.Module) -> Iterator[str]:
    """Every text in the code but docstrings, which are for people."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def test_importing_askback_loads_no_extra():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, askback; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "askback" in loaded
    assert not set(EXTRAS) & set(loaded)
