"""How a visit is put before a person, on every surface."""

import pytest

from askback.client.consent import judge
from askback.client.labels import view_visit
from askback.client.person import VisitAsked
from tests.client.consent.good import ORDINARY, WARNED
from tests.client.consent.hostile import HOSTILE
from tests.client.turns import make_visit


def visit(url: str, *, label: str = "shop", name: str | None = None, host: str | None = None) -> VisitAsked:
    asked = make_visit(url, label=label, name=name, host=host).asked
    assert isinstance(asked, VisitAsked)
    return asked


@pytest.mark.verifies("R47", "R59", "R60", "R64")
def test_who_where_and_why_and_the_whole_link_are_shown():
    seen = view_visit(visit("https://login.example.co.uk/a?b=c#d", name="The Shop", host="mcp.example.com"))
    assert seen.who == "shop at mcp.example.com, which calls itself “The Shop”"
    assert seen.where == ("login.", "example.co.uk", "")
    assert seen.why == "tool order"
    assert seen.url == "https://login.example.co.uk/a?b=c#d"
    assert seen.warnings == ("example.co.uk is not the domain of the server that asks (example.com).",)
    assert seen.refusal is None


@pytest.mark.verifies("T10")
@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://github.com.evil.example/", ("github.com.", "evil.example", "")),
        ("https://github.com/", ("", "github.com", "")),
        ("https://www.github.com./", ("www.", "github.com", ".")),
        ("https://a.example.a.example/", ("a.example.", "a.example", "")),
        ("https://192.168.0.1:8443/", ("", "192.168.0.1", "")),
        ("https://[::1]/", ("", "[::1]", "")),
        ("javascript:alert(1)", ("", "", "")),
    ],
)
def test_the_registrable_domain_stands_by_itself(url: str, where: tuple[str, str, str]):
    seen = view_visit(visit(url))
    assert seen.where == where
    assert "".join(seen.where) == judge(url).host


@pytest.mark.verifies("R60")
def test_what_is_shown_of_a_good_link_is_what_will_be_opened_to_the_last_character():
    for url in (*ORDINARY, *WARNED):
        asked = visit(url)
        assert view_visit(asked).url == asked.verdict.href


@pytest.mark.verifies("T07", "T14", "T15")
def test_nothing_of_a_hostile_link_reaches_the_screen_unseen():
    for url in (url for urls in HOSTILE.values() for url in urls):
        seen = view_visit(visit(url, label="shop\x1b[2J", name="\u202egoogle.com"))
        for text in (seen.who, *seen.where, seen.url, *seen.warnings, seen.refusal or ""):
            assert text.isprintable(), ascii(text)
        assert seen.refusal
        assert seen.refusal not in seen.warnings, "the reason is said once"


def test_a_refused_link_is_shown_as_it_was_written():
    seen = view_visit(visit("https://github.com\u200b@evil.example/"))
    assert seen.url == "https://github.com<U+200B>@evil.example/"
