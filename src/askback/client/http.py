"""What goes with each HTTP request to a server, and what its status says of one that does not connect."""

import re
from collections.abc import Mapping, Sequence

import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID

from askback.errors import AuthorError
from askback.model.safe import safe_line

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~\xa0-\xff]+(?:[ \t]+[!-~\xa0-\xff]+)*)?")

MIN_SECRET_LENGTH = 8
"""Characters; below that, taking a value out of a sentence would spoil more than it hides."""


def read_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """As they are sent; one that HTTP cannot carry is refused by its name alone."""
    return [(_header_name(name), _header_value(name, value)) for name, value in headers.items()]


def _header_name(name: object) -> bytes:
    if not isinstance(name, str) or _HEADER_NAME.fullmatch(name) is None:
        raise AuthorError("The name of a header is made of letters, digits and hyphens, as in Authorization.")
    return name.encode("ascii")


def _header_value(name: str, value: object) -> bytes:
    if not isinstance(value, str):
        raise AuthorError(f"The header {name} has a value that is no text. Is a variable of it not set?")
    if _HEADER_VALUE.fullmatch(value) is None:
        raise AuthorError(
            f"The header {name} has a value that HTTP cannot carry: a line break, another control character, a letter "
            "beyond Latin-1, or a blank at an end. What is read from a file often ends with a line break; strip it."
        )
    return value.encode("latin-1")


def redact_headers(text: str, headers: Sequence[tuple[bytes, bytes]]) -> str:
    """`text`, which somebody else wrote, without the values of these headers and the words in them."""
    values = [value.decode("latin-1") for _, value in headers]
    words = {piece for value in values for piece in (value, *value.split())}
    for word in sorted(words, key=len, reverse=True):
        if len(word) >= MIN_SECRET_LENGTH:
            text = text.replace(word, "[header]")
    return text


STATUS_REASONS = {
    401: ("it wants to know who calls", "Give it a token, in a header Authorization: Bearer ..."),
    403: ("it does not let this caller in", "Check the token, and what it may be used for."),
    404: ("there is nothing at this path", "Check the path; many servers are at /mcp."),
    405: (
        "it takes no messages at this path",
        "Servers of the old SSE transport answer so; look for its streamable HTTP address.",
    ),
    429: ("it was called too often", "Wait a while, then try again."),
}


class HTTPRefusal:
    """The last answer to a message, where it was none of MCP."""

    def __init__(self) -> None:
        self._status = 0
        self._elsewhere = ""
        self._is_forgotten = False

    async def note(self, response: httpx2.Response) -> None:
        """To be called with every response."""
        if response.request.method == "POST":
            self._status = response.status_code
            self._elsewhere = response.headers.get("location", "")
            self._is_forgotten = response.status_code == 404 and MCP_SESSION_ID in response.request.headers

    def is_forgotten(self) -> bool:
        """Whether the server, restarted perhaps, does not know our session; to a message of one 404 says only that."""
        return self._is_forgotten

    def reason(self) -> tuple[str, str] | None:
        """What was wrong, and what to do; None where the status says nothing of it."""
        if self._status in STATUS_REASONS:
            problem, advice = STATUS_REASONS[self._status]
        elif 300 <= self._status < 400:
            problem, advice = (
                f"it points elsewhere, to {safe_line(self._elsewhere)}",
                "Give that address, if it is right.",
            )
        elif self._status >= 500:
            problem, advice = "it failed", "Look into its own log, or try again later."
        else:
            return None
        return f"{problem} (HTTP {self._status})", advice
