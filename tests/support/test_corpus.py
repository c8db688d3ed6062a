"""A corpus is one test that lists its misses."""

import pytest

from tests.support.corpus import corpus


@corpus("number", [1, 2, 3, 4])
def is_odd(number: int, *, said: str) -> None:
    assert number % 2 == 1, said


@corpus(("text", "length"), [("a", 1), ("bb", 2)])
async def test_a_corpus_of_pairs_may_be_awaited_and_takes_fixtures(
    text: str, length: int, anyio_backend: str
):
    assert (len(text), anyio_backend) == (length, "asyncio")


def test_every_case_is_tried_and_all_that_miss_are_listed():
    with pytest.raises(AssertionError, match="2 cases miss") as caught:
        is_odd(said="even")
    assert "{'number': 2}" in str(caught.value) and "{'number': 4}" in str(caught.value)
    assert "{'number': 3}" not in str(caught.value)
