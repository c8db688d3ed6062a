"""The trees that DuckDB gives as JSON: syntax trees and plans."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

Node = Mapping[str, Any]


def walk(tree: Any, skipped: Collection[str] = ()) -> Iterator[Node]:
    """Every node of a tree, or of a list of trees, without the parts under the keys in `skipped`."""
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(cast("list[Any]", node))
        elif isinstance(node, dict):
            yield cast("Node", node)
            stack.extend(value for key, value in cast("Node", node).items() if key not in skipped)
