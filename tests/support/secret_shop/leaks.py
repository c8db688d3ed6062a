"""Pages that show what was typed where they must not: a search that finds nothing has to find it there."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from starlette.responses import HTMLResponse, Response

from askback.pages.visit import VisitPage


def _into_cookie(response: Response, value: str) -> Response:
    response.set_cookie("last", quote(value))
    return response


def _into_address(response: Response, value: str) -> Response:
    response.headers["location"] += f"?last={quote(value)}"
    return response


def _into_page(response: Response, value: str) -> Response:
    return HTMLResponse(f"<h1>Done</h1><p>You typed {value}</p>")


_LEAKS: dict[str, Callable[[Response, str], Response]] = {
    "cookies": _into_cookie,
    "addresses": _into_address,
    "pages": _into_page,
}

PAGE_LEAKS = list(_LEAKS)


def leak_on_pages(place: str) -> None:
    """Have this process's pages do so from now on; nothing for no place."""
    if not place:
        return
    keep: Any = vars(VisitPage)["_save"]

    async def keep_and_leak(self: Any, request: Any, visitor: Any, visit: Any, form: Any) -> Response:
        response = await keep(self, request, visitor, visit, form)
        return _LEAKS[place](response, str(form["field-value"]))

    VisitPage._save = keep_and_leak  # pyright: ignore[reportPrivateUsage] # the defence that is taken out
