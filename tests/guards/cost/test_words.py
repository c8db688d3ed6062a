"""What a person reads about a cost, and what is too much."""

import dataclasses
from typing import Any

import pytest

from askback.errors import AuthorError
from askback.guards.cost import CalledEstimator, CostLimits, CostWords, Estimate, EstimateFailed, Measure


def told(**numbers: float | None) -> Estimate:
    return Estimate(engine="Test", **numbers)


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (told(rows=48_123_456, bytes=3_100_000_000), "scans about 48 million rows, 3.1 GB"),
        (told(rows=1, bytes=12), "scans about 1 row, 12 bytes"),
        (told(rows=0, bytes=0), "scans about 0 rows, 0 bytes"),
        (told(rows=1234, bytes=1234), "scans about 1,200 rows, 1.2 KB"),
        (told(rows=999_999, bytes=999_999), "scans about 1 million rows, 1 MB"),
        (told(rows=2.5e12, bytes=7e15), "scans about 2.5 trillion rows, 7 PB"),
        (told(rows=5, seconds=0.2), "scans about 5 rows, takes less than a second"),
        (told(rows=5, seconds=90), "scans about 5 rows, takes about 90 seconds"),
        (told(rows=5, seconds=600), "scans about 5 rows, takes about 10 minutes"),
        (told(rows=5, seconds=86400 * 3), "scans about 5 rows, takes about 3 days"),
        (told(rows=2000, widest=1e6), "scans about 2,000 rows, makes about 1 million rows on the way"),
        (told(), "nobody can tell how many rows it handles"),
        (told(rows=5, widest=None), "scans about 5 rows, nobody can tell how many rows it handles"),
    ],
)
def test_a_cost_is_told_in_two_digits(estimate: Estimate, words: str):
    assert CostWords().describe(estimate) == words


def test_what_is_over_a_limit_is_told_with_the_limit():
    words = CostWords().describe(told(rows=48e6, bytes=3.1e9), CostLimits(rows=1e6, bytes=5e9, seconds=60))
    assert (
        words
        == "scans about 48 million rows (more than 1 million rows), 3.1 GB, nobody can tell how long it takes"
    )


@pytest.mark.parametrize(
    ("estimate", "limits", "exceeded"),
    [
        (told(rows=10, bytes=10, seconds=10), CostLimits(rows=10, bytes=10, seconds=10), ()),
        (
            told(rows=11, bytes=11, seconds=11),
            CostLimits(rows=10, bytes=10, seconds=10),
            ("rows", "bytes", "seconds"),
        ),
        (told(rows=10), CostLimits(rows=10, bytes=10), ("bytes",)),
        (told(bytes=10), CostLimits(rows=10), ("rows",)),
        (told(rows=1), CostLimits(seconds=1), ("seconds",)),
        (told(rows=1, widest=11), CostLimits(rows=10), ("rows",)),
        (told(rows=1, widest=None), CostLimits(rows=10), ("rows",)),
        (told(rows=0), CostLimits(rows=0), ()),
        (told(), CostLimits(), ()),
    ],
)
def test_what_is_not_known_counts_as_too_much(
    estimate: Estimate, limits: CostLimits, exceeded: tuple[Measure, ...]
):
    assert limits.exceeded(estimate) == exceeded


@pytest.mark.parametrize("number", [-1, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", [told, CostLimits])
def test_what_is_no_amount_is_refused(kind: Any, number: float):
    with pytest.raises(AuthorError, match="rows="):
        kind(rows=number)


def test_words_can_be_translated():
    german = dataclasses.replace(
        CostWords(),
        scans="liest etwa {rows}",
        many_rows="{number} Zeilen",
        million="{number} Mio.",
        point=",",
    )
    assert german.describe(told(rows=4_800_000, bytes=3.1e9)) == "liest etwa 4,8 Mio. Zeilen, 3,1 GB"


@pytest.mark.parametrize("template", ["{", "{nothing}", "{}"])
def test_a_template_that_cannot_be_filled_is_refused(template: str):
    with pytest.raises(AuthorError, match=r"CostWords\.scans"):
        CostWords(scans=template)


async def test_an_authors_function_may_wait_or_not():
    async def slowly(statement: str) -> Estimate:
        return told(rows=len(statement))

    assert await CalledEstimator(slowly).estimate("1234") == told(rows=4)
    assert await CalledEstimator(lambda _: told(rows=5)).estimate("1234") == told(rows=5)


@pytest.mark.parametrize("answer", [None, 5, "cheap", told(rows=1).rows])
async def test_what_is_no_estimate_is_not_taken_for_one(answer: Any):
    with pytest.raises(EstimateFailed, match="Return an"):
        await CalledEstimator(lambda _: answer).estimate("select 1")


@pytest.mark.parametrize("number", ["one", -1])
async def test_an_authors_function_that_fails_gives_no_estimate(number: Any):
    with pytest.raises(EstimateFailed, match="it raised"):
        await CalledEstimator(lambda _: told(rows=number)).estimate("select 1")
