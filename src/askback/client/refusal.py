"""What an HTTP status says of a server that does not connect. The SDK keeps none of them in its errors."""

import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID

from askback.model.safe import safe_line

REASONS = {
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
        if self._status in REASONS:
            problem, advice = REASONS[self._status]
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
