"""What a browser posted: read whole and within bounds before anything is done with it."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

import anyio
from starlette.requests import Request

MOST_FIELDS = 20
"""Of one post: ten fields of a secret, what goes with them, and room."""

MOST_BYTES = 1024 * 1024
"""Of one post: ten fields of the longest keys there are, each sign of them escaped, and room for one mistaken paste."""

READING_SECONDS = 30.0
"""For a form that is a few hundred bytes: whoever takes longer does not mean to end."""

_FORM = "application/x-www-form-urlencoded"
"""What a form without files is sent as. There are no files here."""


class UnreadablePost(Exception):
    """A post that is not taken, with the status and the sentence that say why."""

    def __init__(self, status: int, why: str) -> None:
        self.status, self.why = status, why
        super().__init__(why)


async def fields_of(request: Request) -> Mapping[str, str]:
    """The fields, each once. Bytes that are no UTF-8 are refused: nothing is kept that differs from what was meant."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise UnreadablePost(415, "It was not sent as a form.")
    body = await _body(request)
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError as error:
        raise UnreadablePost(400, "It could not be read as a form.") from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise UnreadablePost(400, "It named a field twice.")
    return fields


async def _body(request: Request) -> bytes:
    """What comes, whatever was said of its length."""
    body = bytearray()
    try:
        with anyio.fail_after(READING_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise UnreadablePost(413, "It was far too long.")
    except TimeoutError as error:
        raise UnreadablePost(408, "It did not come to an end.") from error
    return bytes(body)
