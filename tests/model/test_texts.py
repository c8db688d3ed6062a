"""The sentences people read when an answer did not fit."""

from dataclasses import replace

import pytest

from askback.errors import AuthorError
from askback.model.texts import Problem, Words
from askback.schema.validation import RULES


def test_every_rule_of_a_field_has_its_sentence_and_uses_only_its_facts():
    for rule in [rule for rules in RULES.values() for rule in rules]:
        problem = Problem(code=rule.code, field="age", title="Your age", facts=dict.fromkeys(rule.facts, "7"))
        assert Words().sentence(problem).strip()


def test_a_field_is_called_what_the_person_saw():
    words = Words()
    assert words.sentence(Problem(code="missing", field="a", title="Your age")) == "Your age is needed."
    assert words.sentence(Problem(code="missing", field="a")) == "a is needed."
    assert words.sentence(Problem(code="missing", field="value")) == "Your answer is needed."
    assert words.sentence(Problem(code="missing", field="a", title="{odd} {0}")) == "{odd} {0} is needed."


def test_the_problems_stand_below_the_message():
    words = Words()
    problems = [Problem(code="missing", field="a"), Problem(code="too_low", field="b", facts={"least": 3})]
    assert words.again_message("Which {one}?", words.describe(problems)) == (
        "Which {one}?\n\nThe last answer did not fit:\na is needed.\nb should be 3 or more."
    )


def test_a_translator_replaces_sentences_and_is_told_of_slips():
    german = replace(Words(), missing="{title} fehlt.", answer="Die Antwort")
    assert german.sentence(Problem(code="missing", field="value")) == "Die Antwort fehlt."
    with pytest.raises(AuthorError, match=r"too_low.*\{low\}.*least"):
        replace(Words(), too_low="{title} ist kleiner als {low}.")
    with pytest.raises(AuthorError, match="not a template"):
        replace(Words(), missing="{title fehlt.")
