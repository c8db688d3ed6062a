"""A journal as a string and back. The boundary seals it; here it is only written down, tagged as ours."""

import json
from typing import Any, assert_never

from pydantic_core import PydanticSerializationError, from_json, to_json

from askback.errors import NotRecordable
from askback.model.journal import (
    Arrival,
    ClosedQuestion,
    Effect,
    Journal,
    LateReply,
    MalformedReply,
    NestedRound,
    OpenedQuestion,
    Reply,
    ReplyOrigin,
    StartedVisit,
)

TAG = "askback.1:"
"""Ours begins so; anything else belongs to somebody else and is passed through."""


class UnreadableJournal(ValueError):
    """Tagged as ours, yet not ours: another version wrote it, or the seal was given away."""


def is_ours(state: object) -> bool:
    return isinstance(state, str) and state.startswith(TAG)


def encode(journal: Journal) -> str:
    """Write the journal down."""
    record: dict[str, Any] = {"c": journal.conversation, "r": journal.round}
    if journal.answered:
        record["a"] = [list(entry) for entry in journal.answered.values()]
    if journal.opened:
        record["o"] = [list(entry) for entry in journal.opened.values()]
    if journal.arrived:
        record["h"] = {place: _arrival_row(arrival) for place, arrival in journal.arrived.items()}
    if journal.effects:
        record["e"] = [list(entry) for entry in journal.effects.values()]
    if journal.drifted:
        record["d"] = sorted(journal.drifted)
    if journal.visits:
        record["t"] = [list(entry) for entry in journal.visits.values()]
    if journal.notes:
        record["m"] = journal.notes
    if journal.nested is not None:
        record["n"] = _nested_row(journal.nested)
    try:
        return TAG + _unquoted(to_json(record).decode())
    except PydanticSerializationError as error:
        raise NotRecordable(
            problem=f"The journal of this call cannot be written as JSON ({error})",
            instead="keep keys and the results of once(...) to readable text and plain values",
        ) from error


def decode(state: str) -> Journal:
    """Read a journal that `encode` wrote."""
    try:
        # What people answered must not stay in a cache of the parser's.
        record = from_json(_quoted(state[len(TAG) :]), cache_strings="none")
        journal = Journal(record.pop("c"), record.pop("r"))
        for row in record.pop("o", ()):
            journal.opened[row[0]] = OpenedQuestion(*row)
        for row in record.pop("a", ()):
            journal.answered[row[0]] = ClosedQuestion(*row)
        if record:
            _read_rarer(record, journal)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise UnreadableJournal("a journal of another shape") from error
    return journal


def _read_rarer(record: dict[str, Any], journal: Journal) -> None:
    """What most journals have nothing of."""
    for row in record.get("e", ()):
        journal.effects[row[0]] = Effect(*row)
    for row in record.get("t", ()):
        journal.visits[row[0]] = StartedVisit(*row)
    for place, row in record.get("h", {}).items():
        journal.arrived[place] = _arrival(row)
    journal.drifted.update(record.get("d", ()))
    journal.notes.update(record.get("m", {}))
    journal.nested = _nested(*record["n"]) if "n" in record else None


def _unquoted(written: str) -> str:
    """With apostrophes for quotation marks: the seal writes the state into JSON once more, escaping every mark."""
    return written.replace("'", "\\u0027").replace('"', "'")


def _quoted(text: str) -> str:
    return text.replace("'", '"')


def _nested_row(nested: NestedRound) -> list[Any]:
    """Half of a surrogate pair has no bytes in UTF-8: a state with one is written as JSON in ASCII, in a list."""
    state = nested.state
    if state is None or _is_unicode(state):
        return list(nested)
    return [[json.dumps(state)], nested.asked, nested.replies]


def _nested(state: Any, asked: list[str], replies: dict[str, Any]) -> NestedRound:
    match state:
        case [str(written)]:
            return NestedRound(json.loads(written), asked, replies)
        case _:
            return NestedRound(state, asked, replies)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _arrival_row(arrival: Arrival) -> list[Any]:
    match arrival:
        case Reply():
            said = [] if arrival.said is None else [list(arrival.said)]
            return ["reply", arrival.action, arrival.content, *said]
        case MalformedReply():
            return ["broken", arrival.code]
        case LateReply():
            return ["late"]
        case _:
            assert_never(arrival)


def _arrival(row: list[Any]) -> Arrival:
    match row:
        case ["reply", action, content, *said]:
            return Reply(action=action, content=content, said=ReplyOrigin(*said[0]) if said else None)
        case ["broken", code]:
            return MalformedReply(code=code)
        case ["late"]:
            return LateReply()
        case _:
            raise ValueError("unknown kind of arrival")
