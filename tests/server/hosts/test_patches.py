"""Only `server/hosts/patches.py` replaces attributes of the SDK, FastMCP and Starlette; the docs list all of them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import askback
from askback.errors import UnsupportedHost
from askback.server.hosts import patches
from scripts.patches import PAGE, found, page

SOURCES = Path(askback.__file__).parent
THEIRS = {"mcp", "mcp_types", "fastmcp", "starlette", "sse_starlette"}
OURS = ("askback", "_askback")
"""How attributes begin that we add to objects of theirs; nothing of theirs is replaced by them."""


def test_the_page_of_patches_is_written_from_their_docstrings():
    text = PAGE.read_text()
    assert page(text) == text, "run `python -m scripts.patches`"


def test_every_patch_checks_what_it_relies_on():
    tree = ast.parse(Path(patches.__file__).read_text())
    unchecked = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("patch_")
        if not {"require", "_replace"} & {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    ]
    assert not unchecked
    assert len([*found()]) > 15


def test_a_patch_of_what_is_not_there_is_refused_by_name():
    class Moved:
        pass

    with pytest.raises(UnsupportedHost, match="in the fastmcp package: Moved has elicit"):
        patches.patch_elicit(Moved, unchanged)
    with pytest.raises(UnsupportedHost, match="in the mcp package: Moved has call_tool"):
        patches.patch_mcpserver_verb(Moved(), "call_tool", unchanged)


def unchanged(function: Any) -> Any:
    return function


def test_nothing_of_theirs_is_replaced_elsewhere():
    misses = [
        f"{path.relative_to(SOURCES)}:{line}"
        for path in sorted(SOURCES.rglob("*.py"))
        if path != Path(patches.__file__)
        for line in replaced(path.read_text())
    ]
    assert not misses


SAMPLES = {
    "an attribute of a class": "from mcp.server import Server\nServer.run = other",
    "of a module": "from mcp.server import streamable_http as http\nhttp.EventSourceResponse = other",
    "by setattr": "import starlette.applications\nsetattr(starlette.applications.Starlette, name, other)",
    "of an argument": "from fastmcp import FastMCP\ndef f(server: 'FastMCP[int]'):\n    server.get_tasks = other",
    "of a class given": "from fastmcp import FastMCP\ndef f(kind: type[FastMCP]):\n    kind.run = other",
    "of a cast": "from mcp.server import Server\ndef f(s: Server):\n    host = cast('Any', s)\n    host.run = other",
    "of what is in it": "from mcp.server import Server\ndef f(s: Server | None):\n    s.session.send += other",
    "in its dictionary": "from mcp.server import Server\ndef f(s: Server):\n    vars(s)['run'] = other",
    "in its dictionary, directly": "from mcp.server import Server\nServer.__dict__['run'] = other",
    "deleted": "from mcp.server import Server\ndel Server.run",
    "a context variable": "from fastmcp.server.dependencies import fastmcp_request_ctx as ctx\nctx.set(other)",
    "by update": "from mcp.server import Server\ndef f(s: Server):\n    vars(s).update(run=other)",
}

HARMLESS = {
    "an object that we made": "from starlette.applications import Starlette\napp = Starlette()\napp.debug = True",
    "a mark of ours": "from mcp.server import Server\ndef f(s: Server):\n    s.askback_mark = other",
    "in its dictionary": "from mcp.server import Server\nM = '_askback_m'\ndef f(s: Server):\n    vars(s)[M] = 1",
    "of ourselves": "from mcp.server import Server\nclass A(Server):\n    def f(self):\n        self.run = other",
    "a copy": "from mcp.server import Server\ndef f(s: Server):\n    copied = s.copy()\n    copied.run = other",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_replaced_attribute_is_found(sample: str):
    assert len([*replaced(SAMPLES[sample])]) == 1


@pytest.mark.parametrize("sample", HARMLESS)
def test_what_replaces_nothing_is_not_reported(sample: str):
    assert not [*replaced(HARMLESS[sample])]


def replaced(source: str) -> Iterator[int]:
    """The lines of a module in which an attribute of theirs is replaced."""
    tree = ast.parse(source)
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).partition(".")[0] in THEIRS
    }
    marks = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and str(node.value.value).startswith(OURS)
    }
    yield from Finder(imported, marks).in_scope(tree, imported)


class Finder:
    """Looks for replaced attributes, scope by scope."""

    def __init__(self, imported: set[str], marks: set[str]) -> None:
        self._imported, self._marks = imported, marks

    def in_scope(self, scope: ast.AST, theirs: set[str]) -> Iterator[int]:
        theirs = theirs | {arg.arg for arg in arguments_of(scope) if self._is_theirs(arg.annotation)}
        for node in statements_of(scope):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from self.in_scope(node, theirs)
                continue
            if isinstance(node, ast.Assign) and self._root(node.value, through_cast=True) in theirs:
                theirs |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            if any(self._root(target) in theirs for target in self._targets(node)):
                yield node.lineno

    def _is_theirs(self, annotation: ast.expr | None) -> bool:
        if annotation is None:
            return False
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) not in {
            "type",
            *self._imported,
        }:
            return False  # a Callable or a list with theirs in it
        names = {name.id for name in ast.walk(annotation) if isinstance(name, ast.Name)}
        return bool(names & self._imported)

    def _targets(self, node: ast.stmt | ast.expr) -> Iterator[ast.expr]:
        """What is assigned to, without what is only added."""
        targets: list[ast.expr] = []
        match node:
            case ast.Assign(targets=found) | ast.Delete(targets=found):
                targets = found
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                targets = [target]
            case ast.Call(func=ast.Name("setattr" | "delattr"), args=[of, *_]):
                yield of
            case ast.Call(func=ast.Attribute(of, "set" | "reset")) if isinstance(of, ast.Name):
                yield from [of] if of.id in self._imported else []
            case ast.Call(func=ast.Attribute(ast.Call(func=ast.Name("vars")) as of, "update" | "pop")):
                yield of
            case _:
                pass
        for target in targets:
            if isinstance(target, ast.Attribute) and not target.attr.startswith(OURS):
                yield target
            if isinstance(target, ast.Subscript) and not self._is_mark(target.slice):
                yield from [target.value] if is_dictionary(target.value) else []

    def _is_mark(self, key: ast.expr) -> bool:
        return isinstance(key, ast.Name) and key.id in self._marks

    def _root(self, node: ast.expr, *, through_cast: bool = False) -> str | None:
        """The name that an expression begins with, through attributes, `vars` and, if told so, casts."""
        match node:
            case ast.Name(name):
                return name
            case ast.Attribute(inner) | ast.Call(func=ast.Name("vars"), args=[inner]):
                return self._root(inner, through_cast=through_cast)
            case ast.Call(func=ast.Name("cast"), args=[_, inner]) if through_cast:
                return self._root(inner, through_cast=True)
            case _:
                return None


def is_dictionary(node: ast.expr) -> bool:
    is_vars = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars"
    return is_vars or (isinstance(node, ast.Attribute) and node.attr == "__dict__")


def arguments_of(scope: ast.AST) -> list[ast.arg]:
    arguments: Any = getattr(scope, "args", None)
    return [] if arguments is None else [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def statements_of(scope: ast.AST) -> Iterator[Any]:
    """All statements and calls of a scope, and the scopes in it, but nothing inside those."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.stmt | ast.Call):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from statements_of(node)
