"""How many modules one call goes through, and the page that lists them."""

import pytest

from scripts.walk import PAGE, Walk, page, walks

MOST = {"`ask()` on 2026-07-28": (37, 111), "`ask()` on 2025-11-25": (26, 53)}
"""Modules of the package that one call enters, and calls from one to another; going on after an `await` is none."""


@pytest.fixture(scope="module")
def found() -> list[Walk]:
    return walks()


def test_a_question_goes_through_few_modules(found: list[Walk]) -> None:
    counted = {one.title: (len(one.modules), one.hops) for one in found if one.title in MOST}
    assert counted.keys() == MOST.keys()
    too_long = {
        title: count
        for title, count in counted.items()
        if any(n > most for n, most in zip(count, MOST[title], strict=True))
    }
    assert not too_long


def test_the_page_lists_the_modules_of_today(found: list[Walk]) -> None:
    assert PAGE.read_text() == page(found), "Run `make walk`, and read what changed."
