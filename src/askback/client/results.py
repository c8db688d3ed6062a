"""What a server returns: its lists, page by page, and a tool's result held against the schema that it declares."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp.client.session import ClientSession
from mcp_types import CallToolResult, PaginatedRequestParams

from askback.errors import PeerError
from askback.model.safe import safe_line

T = TypeVar("T")

MAX_PAGES = 100
"""A list that never ends must not hang anybody."""

FetchPage = Callable[..., Awaitable[Any]]


async def fetch_all_pages(fetch: FetchPage, items: Callable[[Any], list[T]]) -> list[T]:
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


logger = logging.getLogger(__name__)

CHECK_SECONDS = 10.0
"""For a server to say which schema it declares, where nobody has listed its tools yet."""


async def check_result(session: ClientSession, name: str, result: CallToolResult) -> CallToolResult:
    """The result, also where it cannot be checked; one that does not fit goes with the error."""
    if result.is_error:
        return result
    try:
        with anyio.fail_after(CHECK_SECONDS):
            await session.validate_tool_result(name, result)
    except RuntimeError as error:
        raise PeerError(
            f"The tool {safe_line(name)} was called and has finished, but its result does not fit the output schema "
            f"that it declares: {safe_line(str(error).partition(chr(10))[0])}. Its author must mend that. The result "
            "comes with this error; look at it before you call again.",
            data=result.model_dump(by_alias=True, mode="json", exclude_none=True),
        ) from error
    except Exception:  # noqa: BLE001 - a list of tools that does not come says nothing against the result
        logger.warning("The result of %s is not checked: its output schema cannot be had.", safe_line(name))
    return result
