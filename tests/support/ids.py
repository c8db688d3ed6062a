"""What a server sent, without the id that every question has."""

import re
from collections.abc import Mapping
from typing import Any

from askback.protocol.elicitation import ID_LENGTH, QUESTION_META_KEY

OURS = re.compile(rf"[0-9a-f]{{{ID_LENGTH}}}")


def without_id(meta: Mapping[str, Any], *, key: str = QUESTION_META_KEY) -> dict[str, Any]:
    """The notes of a question without its id, which has to be there and look like one of ours."""
    assert OURS.fullmatch(meta[key])
    return {name: value for name, value in meta.items() if name != key}


def sent_words(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a question of the 2025 revisions that has its id and no other notes."""
    assert without_id(params["_meta"]) == {}
    return {name: value for name, value in params.items() if name != "_meta"}
