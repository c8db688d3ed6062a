"""Ids of questions: the same call delivered twice asks under the same ones. For display, and never as proof.

A proxy that sends a request again makes two calls of one. Whoever shows their questions can tell by the ids that the
second one asks what the first has asked already.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, cast

from askback.protocol.revisions import RESOURCES_READ

QUESTION_META_KEY = "askback/question"
"""Where the id of a question stands that is a request of its own."""

QUESTIONS_META_KEY = "askback/questions"
"""Where a round has the notes of its questions, by their keys: its form parameters have no room for them."""

ID = "id"
"""The id's name among the notes of one question."""

ID_LENGTH = 24
"""Hexadecimal digits: 96 bits, so that a ledger of years has no two alike by chance."""

MAX_ID_LENGTH = 200
"""Characters of an id that a client takes for one; servers by others may make longer ones than ours."""


class QuestionIds:
    """The ids of one request's questions."""

    __slots__ = ("_asked", "_request")

    def __init__(
        self, server: str, caller: str, method: str, params: Mapping[str, Any], request_id: str | int
    ) -> None:
        """`caller` is empty where nobody tells: strangers may then have the same ids, and nothing but ids."""
        # Neither JSON nor in order, which would take longer than all the rest: whoever sends a request again sends the
        # same.
        about = params.get("uri") if method == RESOURCES_READ else params.get("name")
        self._request = f"{server}\0{caller}\0{method}\0{about}\0{request_id!r}\0{params.get('arguments')!r}"
        self._asked: dict[str, int] = {}

    def next(self, place: str, round: int) -> str:  # noqa: A002 - it is the number of the round
        """A new one for each time that something is asked at this place: a reply that does not fit is no copy."""
        number = self._asked[place] = self._asked.get(place, 0) + 1
        named = f"{self._request}\0{round}.{number}.{place}"
        return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=ID_LENGTH // 2).hexdigest()


def add_id(meta: Mapping[str, Any] | None, id: str, *, key: str) -> dict[str, Any]:
    """The author's notes for the client with the id among them; it goes before an author's own of that name."""
    return {**meta, key: id} if meta else {key: id}


def add_round_ids(meta: Mapping[str, Any] | None, ids: Mapping[str, str]) -> dict[str, Any]:
    """The `_meta` of a round that somebody else has written, with the ids of its questions; nothing without any."""
    if not ids:
        return {}
    said = _object((meta or {}).get(QUESTIONS_META_KEY)) or {}
    named = {key: add_id(_object(said.get(key)), id, key=ID) for key, id in ids.items()}
    return {"_meta": {**(meta or {}), QUESTIONS_META_KEY: {**said, **named}}}


def _object(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
