"""Finds assignments that replace attributes of the SDK, FastMCP, Starlette or uvicorn in the source of a module."""

import ast
from collections.abc import Iterator
from typing import Any

THEIRS = {"mcp", "mcp_types", "fastmcp", "starlette", "sse_starlette", "uvicorn"}
OURS = ("askback", "_askback")
"""How attributes begin that we add to their objects. They replace nothing."""


def replaced_lines(source: str) -> Iterator[int]:
    """The numbers of the lines that replace an attribute of one of their classes, modules or objects."""
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
