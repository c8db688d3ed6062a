"""What guards stood before, told from lines alone: how each was decided, by whom, and what then ran."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.ledger import LedgerEntry
from askback.ledger.reader import RecordedRun
from tests.ledger.books import entry
from tests.ledger.guarded import (
    FACTS,
    HOUR,
    MESSAGE,
    WHERE,
    answered,
    asked,
    call_of,
    decided,
    ended,
    story,
)
from tests.support.guarded_runs import guarded_runs

CALL = call_of(1)


def runs_of(*entries: LedgerEntry) -> list[RecordedRun]:
    return guarded_runs(enumerate(entries, 1))


def test_a_run_joins_its_question_its_answer_its_decision_and_its_end():
    (run,) = runs_of(*story(CALL, rule="once"))
    assert (run.decision, run.is_approved, run.then) == ("once", True, "ran")
    assert (run.guard, run.first.caller, run.first.client) == ("query", "ada", "mcpdo 1.4")
    assert (run.channel, run.word, run.policy) == ("terminal", "client", None)
    assert (run.message, run.facts, run.numbers) == (MESSAGE, FACTS, [1, 2, 3, 4])


OUTCOMES: dict[str, tuple[list[LedgerEntry], str, bool, str]] = {
    "limit": (story(CALL, rule="limit"), "limit", True, "ran"),
    "for an hour": (story(CALL, rule="for an hour", how="raised"), "for an hour", True, "raised"),
    "declined": (
        story(CALL, reason="declined", action="decline", how=None),
        "declined",
        False,
        "did not run",
    ),
    "cancelled": (
        story(CALL, reason="cancelled", action="cancel", how=None),
        "cancelled",
        False,
        "did not run",
    ),
    "timed out": ([asked(CALL), decided(CALL, reason="timed out")], "timed out", False, "did not run"),
    "cannot ask": ([decided(CALL, reason="cannot ask")], "cannot ask", False, "did not run"),
    "even if": (
        [decided(CALL, rule="even if cannot ask"), ended(CALL)],
        "even if cannot ask",
        True,
        "ran",
    ),
    "earlier": (
        [decided(CALL, rule=f"approval of {HOUR}"), ended(CALL)],
        f"approval of {HOUR}",
        True,
        "ran",
    ),
    "another guard": (
        [*story(CALL, rule="once", how=None), ended(CALL, "did not run")],
        "once",
        True,
        "did not run",
    ),
    "killed": (story(CALL, rule="once", how=None), "once", True, "no end on record"),
    "nobody came back": ([asked(CALL)], "not decided", False, "did not run"),
    "killed before": ([asked(CALL), answered(CALL)], "not decided", False, "did not run"),
    "trimmed": ([ended(CALL)], "no decision on record", False, "ran"),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_is_told_as_what_it_was(outcome: str):
    entries, decision, is_approved, then = OUTCOMES[outcome]
    (run,) = runs_of(*entries)
    assert (run.decision, run.is_approved, run.then) == (decision, is_approved, then)


def test_what_two_workers_recorded_of_one_run_counts_once():
    """The first was killed after it had written the decision."""
    (run,) = runs_of(*story(CALL, rule="once", how=None), *story(CALL, rule="once")[1:])
    assert (run.decision, run.then) == ("once", "ran")


def test_a_second_run_at_the_same_place_is_one_more():
    first, second = runs_of(
        *story(CALL, rule="conversation"), decided(CALL, rule="conversation"), ended(CALL)
    )
    assert (first.then, second.then) == ("ran", "ran")
    assert first.answered is not None and second.answered is None


def test_an_approved_run_that_never_ended_is_not_ended_by_another_calls_end():
    first, second = runs_of(*story(call_of(1), rule="once", how=None), *story(call_of(2), rule="once"))
    assert (first.then, second.then) == ("no end on record", "ran")


def test_questions_that_are_no_guards_are_left_out():
    assert runs_of(entry(CALL, place="size"), entry(CALL, place=None), entry(CALL, place="guardian")) == []


def test_which_rule_of_a_policy_answered_is_told():
    (run,) = runs_of(
        asked(CALL),
        answered(CALL, word="policy", channel="policy", rule="rules.toml: rule 3"),
        decided(CALL, rule="once", word="policy"),
    )
    assert (run.word, run.policy, run.decision) == ("policy", "rules.toml: rule 3", "once")


@st.composite
def lines(draw: st.DrawFn) -> LedgerEntry:
    event = draw(st.sampled_from(["asked", "answered", "refused", "expired", "guarded", "spent"]))
    reason = draw(st.sampled_from([None, "ran", "raised", "did not run", "declined", "cannot ask"]))
    call = draw(st.sampled_from(["c1", "c2"]))
    return entry(call, event=event, reason=reason, place=WHERE, message=None)


@given(st.lists(lines(), max_size=12))
def test_whatever_the_lines_are_nothing_is_said_to_have_run_that_no_line_says(entries: list[LedgerEntry]):
    runs = runs_of(*entries)
    told = [number for run in runs for number in run.numbers]
    assert len(told) == len(set(told))
    for run in runs:
        said = {(entries[number - 1].event, entries[number - 1].reason) for number in run.numbers}
        assert run.then not in {"ran", "raised"} or ("guarded", run.then) in said
        assert not run.is_approved or ("guarded", None) in said
