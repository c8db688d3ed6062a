"""A journal as a string and back. The boundary seals it; here it is only written down, tagged as ours."""

import json
from typing import Any

from askback.errors import NotRecordable
from askback.journal.entries import Answered, Broken, Effect, Journal, Late, Opened, Reply

TAG = "askback.1:"
"""Ours begins so; anything else belongs to somebody else and is passed through."""

MOST_CHARACTERS = 262_144
"""Clients carry the state in memory and send it on every retry; past this they begin to refuse it."""


_COMPACT = json.JSONEncoder(separators=(",", ":"))


class UnreadableJournal(ValueError):
    """Tagged as ours, yet not ours: another version wrote it, or the seal was given away."""


def is_ours(state: object) -> bool:
    return isinstance(state, str) and state.startswith(TAG)


def encode(journal: Journal) -> str:
    """Write the journal down; refuse one that no client could carry."""
    record: dict[str, Any] = {"c": journal.conversation, "r": journal.round}
    if journal.answered:
        record["a"] = [_answered_row(entry) for entry in journal.answered.values()]
    if journal.opened:
        record["o"] = [_opened_row(entry) for entry in journal.opened.values()]
    if journal.arrived:
        record["h"] = {place: _reply_row(reply) for place, reply in journal.arrived.items()}
    if journal.effects:
        record["e"] = [[entry.key, entry.result, entry.failed] for entry in journal.effects.values()]
    if journal.drifted:
        record["d"] = sorted(journal.drifted)
    text = TAG + _COMPACT.encode(record)
    if len(text) > MOST_CHARACTERS:
        raise NotRecordable(
            problem=f"The journal of this call is longer than the {MOST_CHARACTERS} characters a client carries",
            instead="let once(...) return an id and keep the data itself on the server",
        )
    return text


def decode(state: str) -> Journal:
    """Read a journal that `encode` wrote."""
    try:
        record = json.loads(state[len(TAG) :])
        return Journal(
            conversation=record["c"],
            round=record["r"],
            answered={row[0]: _answered(row) for row in record.get("a", ())},
            opened={row[0]: _opened(row) for row in record.get("o", ())},
            arrived={place: _reply(row) for place, row in record.get("h", {}).items()},
            effects={row[0]: _effect(row) for row in record.get("e", ())},
            drifted=set(record.get("d", ())),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise UnreadableJournal("a journal of another shape") from error


def _answered_row(entry: Answered) -> list[Any]:
    return [
        entry.place,
        entry.digest,
        entry.gist,
        entry.outcome,
        entry.content,
        entry.attempts,
        entry.problem,
    ]


def _answered(row: list[Any]) -> Answered:
    place, digest, gist, outcome, content, attempts, problem = row
    return Answered(
        place=place,
        digest=digest,
        gist=gist,
        outcome=outcome,
        content=content,
        attempts=attempts,
        problem=problem,
    )


def _opened_row(entry: Opened) -> list[Any]:
    return [
        entry.place,
        entry.digest,
        entry.gist,
        entry.asked_at,
        entry.seconds,
        entry.attempts,
        entry.problem,
    ]


def _opened(row: list[Any]) -> Opened:
    place, digest, gist, asked_at, seconds, attempts, problem = row
    return Opened(
        place=place,
        digest=digest,
        gist=gist,
        asked_at=asked_at,
        seconds=seconds,
        attempts=attempts,
        problem=problem,
    )


def _reply_row(reply: Reply | Broken | Late) -> list[Any]:
    match reply:
        case Reply():
            return ["reply", reply.action, reply.content]
        case Broken():
            return ["broken", reply.code]
        case Late():
            return ["late"]


def _reply(row: list[Any]) -> Reply | Broken | Late:
    match row:
        case ["reply", action, content]:
            return Reply(action=action, content=content)
        case ["broken", code]:
            return Broken(code=code)
        case ["late"]:
            return Late()
        case _:
            raise ValueError("unknown kind of reply")


def _effect(row: list[Any]) -> Effect:
    key, result, failed = row
    return Effect(key=key, result=result, failed=tuple(failed) if failed else None)
