"""A posted message: its body, which can be read and given on, its kind, and the error that refuses it."""

from typing import Any, Literal, cast

import pydantic_core
from mcp_types import INVALID_REQUEST, ErrorData
from starlette.responses import JSONResponse
from starlette.types import Message, Receive

from askback.protocol.revisions import CONVERSATION_METHODS


async def read_body(receive: Receive, *, max_bytes: float = float("inf")) -> bytes | None:
    """The whole body. None if the client went away, or sent more bytes than that."""
    body, is_complete = bytearray(), False
    while not is_complete:
        message: Message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or len(body) > max_bytes:
            return None
        is_complete = not message.get("more_body", False)
    return bytes(body)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read before, and then what the connection gives."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


def message_kind(body: bytes) -> Literal["call", "request", "answer", "notification", "other"]:
    """What a posted message is. A call is a request whose body may ask."""
    try:
        message: Any = pydantic_core.from_json(body)
    except ValueError:
        return "other"
    if not isinstance(message, dict):
        return "other"
    method, has_id = cast("dict[str, object]", message).get("method"), "id" in message
    if method is None and has_id:
        return "answer"
    if not isinstance(method, str):
        return "other"
    if not has_id:
        return "notification"
    return "call" if method in CONVERSATION_METHODS else "request"


def error_response(
    status: int, error: ErrorData | str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """A JSON-RPC error about no request in particular."""
    data = error if isinstance(error, ErrorData) else ErrorData(code=INVALID_REQUEST, message=error)
    content = {"jsonrpc": "2.0", "id": None, "error": data.model_dump(exclude_none=True)}
    return JSONResponse(content, status_code=status, headers=headers)
