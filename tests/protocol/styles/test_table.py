"""The page on styles shows what happens now, and what works gives the same on every host and revision."""

import asyncio

import pytest

from askback.testing import REVISIONS
from scripts.styles import PAGE, page
from tests.protocol.styles.cells import PEOPLE, Cells, Place, find_out
from tests.support.cafe import HOSTS, STYLES
from tests.support.cafe.order import said

PLACES = [
    Place(style, host, revision, outcome)
    for style in STYLES
    for host in HOSTS
    for revision in REVISIONS
    for outcome in PEOPLE
]


def ends_otherwise(place: Place) -> bool:
    """Where the tool does not get to speak: nobody can be asked, or the host or the revision has no such thing."""
    return place.outcome == "cannot ask" or (
        place.style == "Resolve" and (place.host != "MCPServer" or place.outcome != "accept")
    )


@pytest.fixture(scope="module")
def found() -> Cells:
    """What real calls give."""
    return asyncio.run(find_out())


def test_the_tables_are_current(found: Cells):
    assert PAGE.read_text() == page(PAGE.read_text(), found), (
        "Run `python -m scripts.styles`, and read what changed."
    )


def test_no_cell_is_missing(found: Cells):
    assert len(PLACES) == len(set(PLACES)) == 6 * 4 * 3 * 4
    assert list(found) == PLACES


def test_what_works_gives_the_same_text_on_every_host_and_revision(found: Cells):
    for place in PLACES:
        if not ends_otherwise(place):
            assert found[place] == (said(place.outcome), ""), place


def test_an_error_reads_the_same_on_every_host(found: Cells):
    for place in PLACES:
        if ends_otherwise(place) and place.style != "Resolve":
            assert found[place].how, place
            assert found[place] == found[place._replace(host="MCPServer")]


@pytest.mark.verifies("R01", "R02", "R03")
@pytest.mark.parametrize("style", STYLES)
def test_a_client_that_declares_nothing_is_asked_by_rounds_of_the_authors_own_alone(style: str, found: Cells):
    for place in PLACES:
        if place.style == style and place.outcome == "cannot ask":
            by_hand = style == "own result" and place.revision == "2026-07-28"
            assert (found[place].how == "all the same") is by_hand, place
