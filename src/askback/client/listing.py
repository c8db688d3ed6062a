"""What a server offers, all pages of it."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp_types import PaginatedRequestParams

T = TypeVar("T")

MAX_PAGES = 100
"""A list that never ends must not hang anybody."""

Fetch = Callable[..., Awaitable[Any]]


async def fetch_all_pages(fetch: Fetch, items: Callable[[Any], list[T]]) -> list[T]:
    """The items of every page that `fetch` gives."""
    found: list[T] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await fetch(params=PaginatedRequestParams(cursor=cursor))
        found += items(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
