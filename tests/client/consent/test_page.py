"""The page about links says what the judge says, and its example does what it shows."""

import re
from pathlib import Path

import pytest

from askback.client.consent import KnownSites, Verdict, judge
from examples.links.asking import visit
from tests.support.docs_pages import DOCS, code_of, table

PAGE = DOCS / "explain" / "links.md"
REFUSED = table(PAGE, "a link like", "is refused with")
WARNED = table(PAGE, "a link like", "brings the warning")


def link_in(cell: str) -> str:
    """What cannot be seen is written on the page by its number."""
    return re.sub(r"<U\+([0-9A-F]{4})>", lambda found: chr(int(found[1], 16)), code_of(cell))


@pytest.mark.parametrize("row", REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_the_page_tells_why_a_link_is_refused(row: list[str]):
    assert judge(link_in(row[0])).refusal == row[1]


@pytest.mark.parametrize("row", WARNED, ids=[str(number) for number in range(len(WARNED))])
def test_the_page_tells_what_a_link_is_warned_of(row: list[str]):
    verdict = judge(link_in(row[0]), server_host="mcp.example.com", before=["example.org"])
    assert verdict.allowed
    assert row[1] in verdict.warnings


def test_the_hosts_example_opens_on_a_yes_alone(tmp_path: Path):
    sites, opened, asked = KnownSites(tmp_path / "sites.json"), list[Verdict](), list[str]()

    def opener(verdict: Verdict) -> bool:
        opened.append(verdict)
        return len(opened) == 1

    def go(url: str, *, says: bool) -> str:
        return visit(
            url,
            server="shop",
            agrees=lambda text: asked.append(text) is None and says,
            sites=sites,
            opener=opener,
        )

    assert go("javascript:alert(1)", says=True).startswith("Not opened. The link begins with javascript:")
    assert go("https://pay.example.com/7", says=False) == "Not opened."
    assert not opened and not sites.before("shop")
    assert go("https://pay.example.com/7", says=True) == "Opened."
    assert go("https://example.org/", says=True) == "Open this yourself: https://example.org/"
    assert asked[-1].endswith("This server sent you to example.com before; example.org is new.")
