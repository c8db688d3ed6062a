"""What a request says: whether a person opens a page with it, the fields of a form, the answer of a provider."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

import anyio
from starlette.requests import Request

PURPOSES = ("sec-purpose", "purpose", "x-purpose", "x-moz")
AHEAD = ("prefetch", "prerender", "preview")
"""What browsers write, and wrote, into these headers when they load a page that nobody has opened yet."""

MAX_FIELDS = 20
"""Ten fields of a secret, what goes with them, and room."""

MAX_BYTES = 1024 * 1024
"""Ten fields of the longest keys there are, every character escaped, and room for one mistaken paste."""

READ_TIMEOUT = 30.0
"""Seconds for a form of a few hundred bytes: a client that is slower holds the connection open on purpose."""

_FORM = "application/x-www-form-urlencoded"
"""What a form without files is sent as. Our pages have no files."""


class UnreadablePost(Exception):
    """A post that is not accepted, with the status and the sentence that say why."""

    def __init__(self, status: int, why: str) -> None:
        self.status, self.why = status, why
        super().__init__(why)


def is_navigation(request: Request) -> bool:
    """Whether a browser goes to a page, rather than a program that fetches it."""
    headers = request.headers
    return (
        headers.get("sec-fetch-mode", "navigate") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
        and "text/html" in headers.get("accept", "")
    )


def is_person_opening(request: Request) -> bool:
    """Whether a person opens a page now. A preview, or a tool that fetches for a model, must not use up a link that can
    be opened once."""
    purposes = " ".join(request.headers.get(name, "") for name in PURPOSES).lower()
    return request.method == "GET" and not any(word in purposes for word in AHEAD) and is_navigation(request)


def provider_answer(request: Request) -> Mapping[str, str]:
    """The parameters of a callback. Empty if one is given twice: one of the two could be checked and the other used."""
    said = request.query_params.multi_items()
    return dict(said) if len(dict(said)) == len(said) else {}


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of a post, each once. Raises `UnreadablePost`, also for bytes that are not UTF-8: a secret must not be
    stored in another form than it was typed in."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise UnreadablePost(415, "It was not sent as a form.")
    body = bytearray()
    try:
        with anyio.fail_after(READ_TIMEOUT):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise UnreadablePost(413, "It was far too long.")
    except TimeoutError as error:
        raise UnreadablePost(408, "It took too long to arrive.") from error
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError as error:
        raise UnreadablePost(400, "It could not be read as a form.") from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise UnreadablePost(400, "It contained a field twice.")
    return fields
