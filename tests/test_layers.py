"""What each part of the package may know."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "askback"

LAYERS = [
    "errors",
    "duration",
    "unique",
    "current",
    "verb",
    "owners",
    "channels",
    "serving",
    "look",
    "answer",
    "question",
    "words",
    "schema",
    "journal",
    "stores",
    "ledger",
    "vault",
    "visits",
    "approvals",
    "witness",
    "premises",
    "carrier",
    "outcomes",
    "host",
    "effects",
    "grounds",
    "trips",
    "setting",
    "conversation",
    "wire",
    "asking",
    "hosted",
    "sync",
    "oauth",
    "pages",
    "telemetry",
    "guards",
    "server",
    "askback",  # the public names, gathered in __init__.py
    "client",
    "testing",
    "cli",
]
"""From the ground up: a module imports its own layer and those before it. The road of a question, read backwards."""

TYPES_ONLY = {
    ("current", "conversation"): "a context variable is typed by what it holds; nothing runs",
    ("verb", "conversation"): "what it is given is what that context variable holds",
}

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
    "wire": "this is where they are spelled",
    "testing": "a test names the revision it wants, as the specification does",
    "cli": "the demo shows a person what went over the wire",
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def layer_of(module: Path) -> str:
    first = module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "askback" if first == "__init__" else first


def imports_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def layers_known_to(module: Path) -> Iterator[str]:
    for name in imports_of(ast.parse(module.read_text())):
        package, _, rest = name.partition(".")
        if package == "askback":
            first = rest.partition(".")[0]
            is_module = (PACKAGE / first).is_dir() or (PACKAGE / f"{first}.py").is_file()
            yield first if first and is_module else "askback"


def strings_of(module: Path) -> Iterator[str]:
    """Every text in the code but docstrings, which are for people."""
    tree = ast.parse(module.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_a_module_imports_only_its_own_layer_and_those_below(module: Path):
    own = layer_of(module)
    known_here = set(layers_known_to(module))
    assert {own, *known_here} <= set(LAYERS), "Give each module its place in LAYERS."
    for known in known_here:
        assert LAYERS.index(known) <= LAYERS.index(own) or (own, known) in TYPES_ONLY, (
            f"{own} imports {known}, which stands above it. Move the noun that both need further down."
        )


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_wire_words_are_spelled_where_the_wire_is(module: Path):
    if layer_of(module) not in MAY_SPELL_THEM:
        spelled = {word for text in strings_of(module) for word in WIRE_WORDS if word in text}
        assert not spelled, f"Take {', '.join(sorted(spelled))} from askback.protocol."


def test_importing_askback_loads_no_extra():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, askback; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "askback" in loaded
    assert not set(EXTRAS) & set(loaded)
