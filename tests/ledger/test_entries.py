"""How an entry is written down and read back, and what becomes of one that is too long."""

from dataclasses import fields
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.errors import OperatorError
from askback.ledger import Ledger, LedgerEntry
from askback.ledger.chain import MAX_LINE_BYTES, LineRecord, Tip, read_line, seal_records
from askback.ledger.entries import MAX_FIELD_BYTES, encode_entry, read_entry
from askback.ledger.keys import LedgerKeyRing, UnreadableLine, compact_json, read_object
from askback.stores import MemoryStore
from tests.ledger.books import KEY, RING, THEN, entry

texts = st.text(st.characters(), max_size=40)


@given(
    message=texts,
    target=texts,
    answer=st.recursive(st.none() | st.booleans() | texts, st.lists, max_leaves=4),
)
def test_an_entry_comes_back_as_it_was(message: str, target: str, answer: Any):
    """Also with letters that no terminal should see, and halves of pairs that no encoding knows."""
    before = entry(message=message, target=target, answer=answer, asks={"type": "object"})
    line = encode_entry(before)
    assert line.decode().isprintable()
    assert read_entry(read_object(line)) == before


def test_fields_stand_in_one_order_and_the_unknown_are_left_out():
    assert encode_entry(entry(place="size")) == (
        b'{"event":"asked","at":1800000000.0,"server":"cafe","call":"c1","place":"size","message":"Which size?"}'
    )


def test_what_a_newer_askback_wrote_is_kept():
    record = {"event": "dreamt", "at": 1, "server": "cafe", "call": "c1", "mood": ["good"]}
    read = read_entry(record)
    assert (read.event, read.more) == ("dreamt", {"mood": ["good"]})
    assert read_object(encode_entry(read)) == record


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": "now"},
        {"at": True},
        {"at": None},
        {"call": None},
        {"message": 3},
        {"asks": []},
        {"facts": "3"},
        {"event": 1},
    ],
    ids=str,
)
def test_what_is_no_entry_is_not_taken_for_one(wrong: dict[str, Any]):
    with pytest.raises(UnreadableLine):
        read_entry({"event": "asked", "at": THEN, "server": "cafe", "call": "c1", **wrong})


@pytest.mark.parametrize("raw", [b'{"a":1,"a":2}', b'{"a":NaN}', b"[1]", b"\xff", b"[" * 100_000], ids=repr)
def test_two_readers_cannot_take_a_line_for_two_things(raw: bytes):
    with pytest.raises(UnreadableLine):
        read_object(raw)


@pytest.mark.parametrize("depth", [501, 900, 1_200, 3_000, 8_000])
def test_a_line_is_nested_too_deeply_at_the_same_depth_on_every_python(depth: int):
    def line(levels: int) -> bytes:
        return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"

    assert read_object(line(500))
    with pytest.raises(UnreadableLine):
        read_object(line(depth))


TEXTS = [
    field.name
    for field in fields(LedgerEntry)
    if field.name not in {"event", "at", "asks", "answer", "facts", "cut", "more"}
]


def as_line(entry: LedgerEntry) -> bytes:
    """In a place of a chain that takes as many digits as any."""
    far = Tip(writer="f" * 16, n=10**12, mac="f" * 64, number=10**12)
    return seal_records(far, RING.first, [LineRecord("entry", encode_entry(entry))])[0][0]


@pytest.mark.parametrize("letter", ["a", "é", "日", "\x9b", "\U000e0041"])
def test_what_is_too_long_is_cut_and_the_mark_has_the_digest_of_the_whole(letter: str):
    long: dict[str, Any] = dict.fromkeys(TEXTS, letter * 32_000)
    wide = {"title": letter * 32_000}
    before = LedgerEntry(
        event="answered", at=THEN, **long, asks=wide, answer=[letter * 32_000], facts=wide, more=wide
    )
    read = read_line(1, as_line(before)).entry()
    assert read is not None and read.cut is not None
    assert {*read.cut} == {*long, "asks", "answer", "facts", "more"}
    assert not (read.asks or read.answer or read.facts or read.more)
    assert read.message is not None and long["message"].startswith(read.message)
    whole = compact_json(before.message)
    assert read.cut["message"] == {"bytes": len(whole), "sha256": sha256(whole).hexdigest()}


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_no_line_is_too_long(share: float):
    """All texts are cut, and everything else just fits: facts in what the form leaves of their common room."""
    form = int(MAX_FIELD_BYTES["asks"] * share)
    sizes = {name: MAX_FIELD_BYTES[name] for name in ("answer", "more")} | {
        "asks": form,
        "facts": MAX_FIELD_BYTES["facts"] - form,
    }
    fits: dict[str, Any] = {"facts": sized(9), **{name: sized(size) for name, size in sizes.items() if size}}
    texts: dict[str, Any] = dict.fromkeys(TEXTS, "a" * 40_000)
    line = as_line(LedgerEntry(event="answered", at=THEN, **texts, **fits))
    assert MAX_LINE_BYTES - 4_000 < len(line) <= MAX_LINE_BYTES
    read = read_line(1, line).entry()
    assert read is not None and read.cut is not None and ("facts" in read.cut) == (share == 1)


def sized(size: int) -> dict[str, str]:
    """An object of so many bytes."""
    return {"x": "a" * (size - len('{"x":""}'))}


def test_of_facts_that_are_too_many_the_first_stay_and_the_mark_has_the_digest_of_all():
    facts = {
        "personal": ["customers.email"],
        "writes": [],
        "statement": "x" * MAX_FIELD_BYTES["facts"],
        "rows": 3,
    }
    read = read_entry(read_object(encode_entry(entry(event="guarded", facts=facts))))
    assert read.facts == {"personal": ["customers.email"], "writes": []}
    whole = compact_json(facts)
    assert read.cut == {"facts": {"bytes": len(whole), "sha256": sha256(whole).hexdigest()}}


def test_facts_that_fit_come_back_as_they_were_and_what_json_cannot_say_is_null():
    facts = {"cost": {"rows": 48_000_000, "seconds": float("nan")}, "personal": ("a.b",), "日": "\x9b"}
    read = read_entry(read_object(encode_entry(entry(event="guarded", facts=facts))))
    assert read.facts == {"cost": {"rows": 48_000_000, "seconds": None}, "personal": ["a.b"], "日": "\x9b"}


def test_a_line_from_before_there_were_facts_is_read_and_written_as_it_was():
    before = b'{"event":"guarded","at":1800000000.0,"server":"cafe","call":"c1","reason":"ran"}'
    read = read_entry(read_object(before))
    assert read.facts is None and encode_entry(read) == before


def test_a_question_of_ten_thousand_wide_letters_is_kept_whole():
    assert read_entry(read_object(encode_entry(entry(message="日" * 10_000)))).cut is None


def test_the_digest_of_an_answer_is_the_same_for_the_same_answer_and_needs_the_key():
    def digest(content: object, *, key: str = KEY) -> str:
        return Ledger(MemoryStore(), [key]).digest_of(content, call="c1", place="sure")

    assert digest({"a": 1, "b": [2]}) == digest({"b": (2,), "a": 1})
    assert digest("yes") != digest("no")
    assert digest("yes") not in {sha256(b'"yes"').hexdigest(), digest("yes", key=KEY[::-1])}


def test_nobody_tells_from_their_own_yes_who_else_has_said_so():
    digest_of = Ledger(MemoryStore(), [KEY]).digest_of
    questions = [("c1", "sure"), ("c2", "sure"), ("c1", "really"), ("c1", None)]
    assert len({digest_of({"value": True}, call=call, place=place) for call, place in questions}) == 4


@pytest.mark.parametrize(
    "keys", [[], ["short"], [b"x" * 31], KEY], ids=["none", "short", "31 bytes", "no list"]
)
def test_keys_that_are_none_are_refused(keys: Any):
    with pytest.raises(OperatorError) as caught:
        Ledger(MemoryStore(), keys)
    assert "short" not in str(caught.value)


def test_keys_are_the_same_as_text_and_as_bytes():
    assert (
        LedgerKeyRing([KEY]).first
        == LedgerKeyRing([KEY.encode()]).first
        == LedgerKeyRing([bytearray(KEY.encode())]).first
    )


WRONG: list[dict[str, Any]] = [{"answers": "order"}, {"keep": timedelta()}, {"store": "mongo://"}]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_cannot_be_meant_is_refused_when_the_ledger_is_made(wrong: dict[str, Any]):
    options: dict[str, Any] = {"store": "memory:", "keys": [KEY], **wrong}
    with pytest.raises(OperatorError):
        Ledger(**options)
