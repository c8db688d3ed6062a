"""Whatever is changed, taken out, put in, moved or cut off shows when the ledger is verified. What does not show
without a head is said here too."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.ledger.chain import LineRecord, Tip, seal_records
from askback.ledger.keys import LedgerKeyRing
from tests.ledger.books import (
    KEY,
    OTHER,
    RING,
    Rows,
    believe_names_of_keys,
    book,
    check,
    heads_of,
    is_last,
    renumbered,
)
from tests.support.defence import with_and_without

pytestmark = pytest.mark.verifies("T24")

appends = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=2, max_size=8)
books = appends.map(book)


def draw_index(data: Any, rows: Rows) -> int:
    return data.draw(st.integers(0, len(rows) - 1))


@given(books)
def test_what_nobody_touched_is_sound(rows: Rows):
    for heads in (None, heads_of(rows)):
        report = check(rows, heads)
        assert report.is_sound, report.problems
        assert (report.first, report.last) == (1, len(rows))


@given(books, st.data())
def test_one_changed_byte_is_noticed(rows: Rows, data: Any):
    index = draw_index(data, rows)
    number, raw = rows[index]
    place: int = data.draw(st.integers(0, len(raw) - 1))
    byte: int = (raw[place] + data.draw(st.integers(1, 255))) % 256
    rows[index] = number, raw[:place] + bytes([byte]) + raw[place + 1 :]
    report = check(rows)
    assert report.problems[0].number == number
    assert report.problems[0].kind in {"changed", "foreign"}


@given(books, st.data())
def test_a_line_that_is_taken_out_is_noticed(rows: Rows, data: Any):
    index = data.draw(st.integers(0, len(rows) - 2))
    without = rows[:index] + rows[index + 1 :]
    report = check(without)
    assert report.problems[0].kind == ("missing" if index else "cut")


@given(books, st.data())
def test_and_also_where_those_behind_it_are_numbered_anew(rows: Rows, data: Any):
    index = draw_index(data, rows)
    without = renumbered(rows[:index] + rows[index + 1 :])
    assert not check(without, heads_of(rows)).is_sound
    if not is_last(rows, index):
        assert not check(without).is_sound


@given(books, st.data())
def test_two_lines_that_are_exchanged_are_noticed(rows: Rows, data: Any):
    one, other = sorted(
        data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=2, unique=True))
    )
    exchanged = list(rows)
    exchanged[one], exchanged[other] = (rows[one][0], rows[other][1]), (rows[other][0], rows[one][1])
    assert not check(exchanged, heads_of(rows)).is_sound
    if not (is_last(rows, one) and is_last(rows, other)):
        assert not check(exchanged).is_sound


FORGED = {
    "nonsense": b"{}",
    "without a seal": book([(0, 1)])[1][1].replace(b',"m":', b',"x":'),
    "by another key": book([(7, 1)], LedgerKeyRing([OTHER]))[0][1],
    "by another key that calls itself ours": book([(7, 1)], LedgerKeyRing([OTHER]))[0][1].replace(
        LedgerKeyRing([OTHER]).first.id.encode(), RING.first.id.encode()
    ),
}


@pytest.mark.parametrize("forged", FORGED)
@given(rows=books, data=st.data())
def test_a_line_that_is_put_in_is_noticed(forged: str, rows: Rows, data: Any):
    index = data.draw(st.integers(0, len(rows)))
    rows.insert(index, (0, FORGED[forged]))
    numbered = [(number, raw) for number, (_, raw) in enumerate(rows, 1)]
    assert any(problem.number == index + 1 for problem in check(numbered).problems)


@given(books, st.data())
def test_a_cut_off_beginning_is_noticed(rows: Rows, data: Any):
    rest = rows[data.draw(st.integers(1, len(rows) - 1)) :]
    assert check(rest).problems[0].kind == "cut"
    anew = [(number, raw) for number, (_, raw) in enumerate(rest, 1)]
    assert not check(anew, heads_of(rows)).is_sound


@given(books, st.data())
def test_a_cut_off_end_is_noticed_against_a_head_and_not_without(rows: Rows, data: Any):
    left = rows[: data.draw(st.integers(0, len(rows) - 1))]
    report = check(left, heads_of(rows))
    assert {problem.kind for problem in report.problems} == {"tail"}
    assert check(left).is_sound


@given(books, st.data())
def test_what_came_after_a_head_does_not_matter_to_it(rows: Rows, data: Any):
    then = heads_of(rows[: data.draw(st.integers(1, len(rows)))])
    assert check(rows, then).is_sound


@given(books, st.data())
def test_a_line_that_stands_there_twice_is_noticed(rows: Rows, data: Any):
    rows.append((len(rows) + 1, rows[draw_index(data, rows)][1]))
    (problem,) = check(rows).problems
    assert (problem.kind, problem.number) == ("copied", len(rows))


@given(books, st.data())
def test_whoever_takes_a_line_out_can_put_no_other_in_its_place(rows: Rows, data: Any):
    """Also the last of a writer that is long gone: every line is sealed, and each stands there once."""
    index = data.draw(st.integers(0, len(rows) - 2))
    rows[index] = (
        rows[index][0],
        data.draw(st.sampled_from([raw for at, (_, raw) in enumerate(rows) if at != index])),
    )
    assert not check(rows).is_sound


@pytest.mark.parametrize("changed", [{"at": 1.0}, {"last": 1}, {"writers": {}}, {"mac": "0" * 64}], ids=str)
def test_a_head_that_was_changed_is_noticed(changed: dict[str, Any]):
    rows = book([(0, 2), (1, 1)])
    heads = replace(heads_of(rows[:2]), **changed)
    assert [problem.kind for problem in check(rows, heads).problems] == ["head"]


@pytest.mark.parametrize("keys", [[OTHER, KEY], [KEY, OTHER]])
def test_after_a_rotation_lines_of_all_keys_verify(keys: list[str]):
    older, newer = book([(0, 2), (1, 1)]), book([(5, 2)], LedgerKeyRing([OTHER]))
    both = older + [(number + len(older), raw) for number, raw in newer]
    assert check(both, heads_of(older), LedgerKeyRing(keys)).is_sound


def test_lines_of_a_key_that_is_not_here_are_told_in_one_sentence():
    rows = book([(0, 2), (1, 1)], LedgerKeyRing([OTHER]))
    (problem,) = check(rows).problems
    assert problem.kind == "keyless"
    assert (
        f"to line {len(rows)}, {len(rows)} are sealed with the key {LedgerKeyRing([OTHER]).first.id}"
        in str(problem)
    )


STRANGE = LedgerKeyRing([OTHER]).first.id
"""Of a key that is not here."""


def renamed(rows: Rows, index: int, id: str = STRANGE, *, old: bytes = b"", new: bytes = b"") -> Rows:
    """With the name of another key in one line, and perhaps other words."""
    number, raw = rows[index]
    forged = raw.replace(RING.first.id.encode(), id.encode(), 1).replace(old, new)
    assert forged != raw
    return [*rows[:index], (number, forged), *rows[index + 1 :]]


@given(books, st.data())
def test_the_name_of_a_key_that_is_not_here_hides_no_change(rows: Rows, data: Any):
    index = draw_index(data, rows)
    problem = check(renamed(rows, index)).problems[0]
    assert (problem.kind, problem.number) == ("changed", index + 1) and "the name is forged" in str(problem)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_nor_does_it_where_the_line_says_something_else_as_well(index: int):
    old, new = (b'"at":', b'"at":1') if not index else (b"Which size?", b"Which colour?")
    (problem,) = check(renamed(book([(0, 2)]), index, old=old, new=new)).problems
    assert (problem.kind, problem.number) == ("changed", index + 1)
    assert f"named the key {STRANGE}, which is not here" in str(problem)
    assert "A writer has one key, so the name is forged" in str(problem)


def test_a_name_that_no_key_can_have_is_forged():
    (problem,) = check(renamed(book([(0, 2)]), 1, "the-old-key")).problems
    assert problem.kind == "changed" and "no key of a ledger is named" in str(problem)


@with_and_without
def test_a_whole_chain_under_the_name_of_a_key_that_is_not_here_is_forged(
    is_defended: bool, monkeypatch: pytest.MonkeyPatch
):
    """Else it passes for the work of a key that was lost."""
    if not is_defended:
        believe_names_of_keys(monkeypatch)
    rows = book([(0, 2)])
    for index in range(len(rows)):
        rows = renamed(rows, index)
    kinds = {problem.kind for problem in check(rows).problems}
    assert ("changed" in kinds and "keyless" not in kinds) if is_defended else kinds == {"keyless"}


def test_a_chain_under_two_names_is_forged():
    rows = book([(0, 2)], LedgerKeyRing([OTHER]))
    number, raw = rows[1]
    rows[1] = number, raw.replace(STRANGE.encode(), b"0123456789abcdef", 1)
    kinds = [problem.kind for problem in check(rows).problems]
    assert sorted(kinds) == ["changed", "keyless"]


def test_of_lines_that_nobody_here_can_judge_it_is_said_what_they_may_be():
    """Whoever has no key of ours can still make one: nothing in such a chain tells it from that of a lost key."""
    (problem,) = check(book([(0, 2)], LedgerKeyRing([OTHER]))).problems
    assert problem.kind == "keyless" and "If none of your servers ever had it, they are forged" in str(
        problem
    )


def test_a_mark_that_nobody_sealed_explains_nothing():
    """A key of one's own is easily made: what it seals must not excuse what is missing."""
    rows = book([(0, 3)])[2:]
    mark = LineRecord(
        "trimmed", b'{"at":1,"before":99,"cut":{"%016x":[2,"%s",2]},"wrong":[]}' % (0, b"0" * 64)
    )
    lines, _ = seal_records(Tip(writer="f" * 16), LedgerKeyRing([OTHER]).first, [mark])
    assert "cut" in {problem.kind for problem in check([*rows, (5, lines[0])]).problems}


def test_a_mark_of_ours_that_cannot_be_read_is_told():
    """Of a newer version, say, that says it in other words."""
    rows = book([(0, 1)])
    lines, _ = seal_records(Tip(writer="f" * 16), RING.first, [LineRecord("trimmed", b'{"at":1,"up_to":99}')])
    (problem,) = check([*rows, (3, lines[0])]).problems
    assert (problem.number, problem.kind) == (3, "foreign")


def test_of_many_problems_the_first_are_told_and_all_are_counted():
    report = check([(number, b"nothing of ours") for number in range(1, 251)])
    assert (report.count, len(report.problems)) == (250, 100)
