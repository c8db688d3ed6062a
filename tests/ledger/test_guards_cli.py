"""`askback ledger guards`: what guards asked, who decided and what then ran, legible on any paper."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from askback.ledger.keys import VARIABLE
from tests.ledger.books import THEN
from tests.ledger.guarded import (
    FACTS,
    GUARDED,
    HOUR,
    MESSAGE,
    ONCE,
    WHERE,
    answered,
    asked,
    call_of,
    decided,
    ended,
    story,
)
from tests.ledger.test_cli import fill, tamper
from tests.ledger.test_cli import shell as shell
from tests.support.command.process import Shell

REPORT = """\
     2  2027-01-15 08:00:30  21-8d41c0  shop/query  approved once: ran
        "Run this query?"
        dialect: duckdb
        personal: main.customers.email (contact), main.customers.name (name)
        cost: engine (DuckDB), rows 48,000,000, widest 48,000,000, bytes 3,100,000,000
        by ada, with mcpdo 1.4, in a terminal, on the client's word
     6  2027-01-15 08:00:30  22-8d41c0  shop/query  approved for an hour: raised
        "Run this query?"
        dialect: duckdb
        personal: main.customers.email (contact), main.customers.name (name)
        cost: engine (DuckDB), rows 48,000,000, widest 48,000,000, bytes 3,100,000,000
        by ada, with mcpdo 1.4, in a terminal, on the client's word
    10  2027-01-15 08:00:30  23-8d41c0  shop/query  by the approval of 22-8d41c0: ran
        "Run this query?"
        dialect: duckdb
        personal: main.customers.email (contact), main.customers.name (name)
        cost: engine (DuckDB), rows 48,000,000, widest 48,000,000, bytes 3,100,000,000
        for ada, with mcpdo 1.4
    12  2027-01-15 08:00:30  24-8d41c0  shop/query  declined: did not run
        "Run this query?"
        dialect: duckdb
        personal: main.customers.email (contact), main.customers.name (name)
        cost: engine (DuckDB), rows 48,000,000, widest 48,000,000, bytes 3,100,000,000
        by ada, with mcpdo 1.4, in a terminal, on the client's word
"""


def test_the_report_tells_what_was_asked_decided_and_run(shell: Shell):
    fill(GUARDED)
    told = shell.run("ledger", "guards")
    assert (told.code, told.out) == (0, REPORT)
    assert told.errors == "4 guarded: 2 ran, 1 raised, 1 did not run.\n"
    assert shell.run("ledger", "verify").code == 0


def test_for_programs_each_run_is_a_line(shell: Shell):
    fill(GUARDED)
    told = shell.run("ledger", "guards", "--json")
    first, second, *_ = rows = [json.loads(line) for line in told.out.splitlines()]
    assert (told.code, told.errors, len(rows)) == (0, "", 4)
    assert first == {
        "lines": [2, 3, 4, 5],
        "sealed": True,
        "server": "shop",
        "call": ONCE,
        "kind": "tool",
        "target": "query",
        "guard": "query",
        "place": WHERE,
        "caller": "ada",
        "client": "mcpdo 1.4",
        "revision": "2026-07-28",
        "message": MESSAGE,
        "facts": FACTS,
        "cut": None,
        "asked": "2027-01-15T08:00:00+00:00",
        "decided": "2027-01-15T08:00:30+00:00",
        "ended": "2027-01-15T08:00:31+00:00",
        "approved": True,
        "decision": "once",
        "channel": "terminal",
        "word": "client",
        "policy": None,
        "then": "ran",
    }
    assert second["call"] == HOUR


TOLD = {
    "approved with a limit: no end on record": story(call_of(1), rule="limit", how=None),
    "approved for this call: ran": story(call_of(1), rule="conversation"),
    "nobody could be asked: did not run": [decided(call_of(1), reason="cannot ask", caller=None)],
    "nobody answered in time: did not run": [asked(call_of(1)), decided(call_of(1), reason="timed out")],
    "cancelled: did not run": story(call_of(1), reason="cancelled", action="cancel", how=None),
    "allowed even if nobody can be asked: ran": [
        decided(call_of(1), rule="even if cannot ask"),
        ended(call_of(1)),
    ],
    "not decided: did not run": [asked(call_of(1))],
}


@pytest.mark.parametrize("words", TOLD)
def test_every_outcome_has_its_words(shell: Shell, words: str):
    fill(TOLD[words])
    first, *_ = shell.run("ledger", "guards").out.splitlines()
    assert first.endswith(f"  shop/query  {words}")


def test_whose_word_it_was_is_told_with_the_rule_of_a_policy(shell: Shell):
    call = call_of(1)
    policy = answered(call, channel="policy", word="policy", rule="rules.toml: rule 3")
    fill([asked(call), policy, decided(call, rule="once", word="policy"), ended(call)])
    fill([decided(call_of(2), reason="cannot ask", caller="local", client=None)])
    told = shell.run("ledger", "guards").out.splitlines()
    assert "        by ada, with mcpdo 1.4, on a policy's word (rules.toml: rule 3)" in told
    assert told[-1] == "        for the user of this computer"


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 200])
def test_on_a_terminal_of_any_width_no_line_is_too_long(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: int
):
    wide = [
        asked(call_of(1), message="日本語" * 200),
        decided(call_of(1), reason="timed out", message="日本語" * 200),
    ]
    fill([*GUARDED, *wide])
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = shell.run("ledger", "guards").out.splitlines()
    assert max(len(line) + sum(sign > "\u2e80" for sign in line) for line in lines) <= max(columns, 56)
    joined = " ".join(" ".join(lines).split())
    assert "by the approval of 22-8d41c0: ran" in joined


def test_it_can_begin_later(shell: Shell):
    fill([*story(call_of(1), rule="once"), *(decided(call_of(2), reason="cannot ask", at=THEN + 90),)])
    told = shell.run("ledger", "guards", "--since", "2027-01-15T08:01")
    assert "2-8d41c0" in told.out and "1-8d41c0" not in told.out
    told = shell.run("ledger", "guards", "--since", "2027-01-16")
    assert (told.code, told.out) == (0, "")
    assert "This ledger has no guarded runs" in told.errors


def test_a_run_of_which_somebody_changed_a_line_is_marked(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    fill(GUARDED)
    tamper("UPDATE ledger SET line = CAST(replace(line, 'declined', 'approved') AS BLOB) WHERE number = 14")
    *_, last = [line for line in shell.run("ledger", "guards").out.splitlines() if "24-8d41c0" in line]
    assert "(its seal does not fit" in last
    sealed = [json.loads(line)["sealed"] for line in shell.run("ledger", "guards", "--json").out.splitlines()]
    assert sealed == [True, True, True, False]
    monkeypatch.delenv(VARIABLE)
    told = shell.run("ledger", "guards", "--json")
    assert {json.loads(line)["sealed"] for line in told.out.splitlines()} == {None}
    assert "None of this is verified" in told.errors


FACTS_TOLD: dict[str, tuple[Any, str | None]] = {
    "not known": (None, "fact: not known"),
    "nothing": ([], None),
    "a digest": ("ab" * 32, None),
    "words": ("a\n b", "fact: a b"),
    "yes": (True, "fact: yes"),
    "no": (False, "fact: no"),
    "many": (1234567.5, "fact: 1,234,568"),
    "few": (0.01234, "fact: 0.0123"),
    "a list": (["a.b", "c.d"], "fact: a.b, c.d"),
    "lists in it": ({"reads": ["a", "b"], "rows": None}, "fact: reads a, b"),
    "another tool": ("helper", "fact: helper"),
}


@pytest.mark.parametrize("fact", FACTS_TOLD)
def test_a_fact_is_told_in_words(shell: Shell, fact: str):
    known, told = FACTS_TOLD[fact]
    fill([decided(call_of(1), reason="cannot ask", facts={"fact": known, "tool": "query"})])
    _head, _question, *between, _who = shell.run("ledger", "guards").out.splitlines()
    assert [line.strip() for line in between] == ([] if told is None else [told])


def test_facts_that_were_too_many_are_said_to_be(shell: Shell):
    facts = {"personal": ["customers.email"], "plan": "x" * 20_000}
    fill([decided(call_of(1), reason="cannot ask", facts=facts)])
    told = shell.run("ledger", "guards").out
    assert "personal: customers.email" in told and "more facts, which were too long to be kept" in told


def test_a_call_is_told_with_its_facts(shell: Shell):
    fill(GUARDED)
    told = " ".join(shell.run("ledger", "show", ONCE).out.split())
    assert 'facts: {"tool": "query", "arguments": "efef' in told and "rule: once" in told


def test_looking_makes_no_store(shell: Shell):
    told = shell.run("ledger", "guards", "--store", "sqlite:///typo.db")
    assert told.code == 2 and not Path("typo.db").exists()
