"""Which texts are given to an engine at all."""

from askback.guards.sql.text import MAX_DEPTH, MAX_LENGTH, find_excess, find_nesting
from tests.guards.sql.misses import Misses


def test_what_is_nested_too_deep_too_long_or_no_text_is_refused() -> None:
    misses = Misses()
    for statement in [
        "SELECT " + "(" * 10_000,
        "SELECT " + "ARRAY[" * 10_000,
        "SELECT " + "CASE WHEN 1 THEN " * 10_000,
        "SELECT " + "NOT " * 10_000 + "1",
        "SELECT " + "- " * 10_000 + "1",
        "SELECT " + "(')'," * (MAX_DEPTH + 1),
        "SELECT " + '(")",' * (MAX_DEPTH + 1),
        "SELECT " + "(--)\n" * (MAX_DEPTH + 1),
        "SELECT " + "(/*)*/" * (MAX_DEPTH + 1),
        "x" * (MAX_LENGTH + 1),
        "SELECT '\0'",
        "SELECT '\ud800'",
    ]:
        with misses.of(statement):
            assert find_excess(statement) or find_nesting(statement)
    misses.require_none()


def test_wide_texts_pass_and_brackets_in_literals_do_not_count() -> None:
    misses = Misses()
    for statement in [
        "",
        "SELECT 1",
        "SELECT " + " + ".join(["(1)"] * 10_000),
        "SELECT '" + "(" * 10_000 + "'",
        "SELECT CASE WHEN a THEN 1 END, " * 1_000,
        "SELECT 1 -- " + "(" * 10_000,
        "SELECT 'it''s ü \u2060'",
        ("+" * MAX_DEPTH + "x") * 1_000,
    ]:
        with misses.of(statement):
            assert not find_excess(statement) and not find_nesting(statement)
    misses.require_none()
