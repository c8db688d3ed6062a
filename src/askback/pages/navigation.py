"""Whether a request opens a page before somebody, as far as its headers tell."""

from starlette.requests import Request

PURPOSES = ("sec-purpose", "purpose", "x-purpose", "x-moz")
AHEAD = ("prefetch", "prerender", "preview")
"""What browsers say, and said, of requests that nobody made yet."""


def is_navigation(request: Request) -> bool:
    """Whether a browser goes to a page, and no program fetches it."""
    headers = request.headers
    return (
        headers.get("sec-fetch-mode", "navigate") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
        and "text/html" in headers.get("accept", "")
    )


def is_person_opening(request: Request) -> bool:
    """Whether this opens a page before somebody. Whatever looks ahead of them, or in their place (a preview, a model's
    tool that fetches), must not use up a link that can be opened once."""
    purposes = " ".join(request.headers.get(name, "") for name in PURPOSES).lower()
    return request.method == "GET" and not any(word in purposes for word in AHEAD) and is_navigation(request)
