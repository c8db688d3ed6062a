"""What is said of a link before anybody opens it."""

import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askback.client.consent import Verdict, judge
from askback.model.safe import safe_line
from tests.client.consent.good import ON_THIS_COMPUTER, ORDINARY, WARNED
from tests.client.consent.hostile import HOSTILE
from tests.support.corpus import corpus
from tests.support.paths import ROOT

CASES = [url for urls in HOSTILE.values() for url in urls]


def test_the_corpora_are_as_large_as_promised():
    assert len({url for urls in HOSTILE.values() for url in urls}) >= 300
    assert len({*ORDINARY, *ON_THIS_COMPUTER, *WARNED}) >= 120


@pytest.mark.verifies("R68", "T08", "T09")
@corpus("url", CASES)
def test_a_hostile_link_is_refused_with_its_reason_in_one_sentence(url: str):
    verdict = judge(url)
    assert not verdict.allowed
    assert verdict.refusal and verdict.warnings[0] == verdict.refusal
    assert verdict.refusal.startswith("The ") or verdict.refusal.startswith("Written out")
    assert verdict.refusal.isprintable()


@corpus("url", ORDINARY)
def test_an_ordinary_link_is_allowed_and_nobody_is_warned(url: str):
    verdict = judge(url)
    assert verdict.refusal is None
    assert verdict.warnings == ()


@corpus("url", ON_THIS_COMPUTER)
def test_of_a_page_on_this_computer_that_is_said_and_nobody_is_warned(url: str):
    verdict = judge(url)
    assert verdict.allowed and verdict.warnings == ()
    assert verdict.note == "The page is on this very computer; what goes there does not leave it."


@corpus("url", [*ORDINARY, *WARNED])
def test_of_no_other_page_is_it_said(url: str):
    assert ("this very computer" in judge(url).note) == url.startswith("https://localhost")


def test_a_server_elsewhere_that_sends_somebody_to_their_own_computer_is_warned_of():
    (warning,) = judge("http://127.0.0.1:8000/askback/visit/x", server_host="mcp.example.com").warnings
    assert warning == "127.0.0.1 is not the domain of the server that asks (example.com)."


def test_a_secret_in_a_link_to_this_computer_is_still_warned_of():
    assert "secret (token)" in "".join(judge("http://127.0.0.1:8000/?token=abc").warnings)


@pytest.mark.verifies("R65", "T07", "T10")
@corpus(("url", "said"), WARNED.items())
def test_a_link_to_beware_of_is_the_persons_to_decide_and_says_why(url: str, said: str):
    verdict = judge(url)
    assert verdict.refusal is None
    assert said in "\n".join(verdict.warnings)
    assert len(verdict.warnings) <= 3, "who is warned of everything is warned of nothing"


@corpus("thing", [None, 7, b"https://example.com", ["https://example.com"], {"url": "x"}])
def test_what_is_not_text_is_no_link(thing: object):
    assert judge(thing).refusal == "The link is not text."


@corpus(
    ("url", "domain"),
    [
        ("https://github.com/", "github.com"),
        ("https://gist.github.com/", "github.com"),
        ("https://www.example.co.uk/", "example.co.uk"),
        ("https://me.github.io/", "me.github.io"),
        ("https://a.me.github.io/", "me.github.io"),
        ("https://github.com.evil.example/", "evil.example"),
        ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        ("https://shop.b\u00fccher.de/", "xn--bcher-kva.de"),
        ("https://github.com./", "github.com"),
        ("https://github.io/", "github.io"),
        ("https://localhost/", "localhost"),
        ("https://192.168.0.1/", "192.168.0.1"),
        ("https://[2001:DB8::1]/", "[2001:db8::1]"),
    ],
)
@pytest.mark.verifies("T10")
def test_the_domain_is_the_part_that_somebody_registered(url: str, domain: str):
    assert judge(url).domain == domain


@pytest.mark.verifies("T07")
def test_the_unicode_form_stands_beside_the_punycode():
    verdict = judge("https://\u0430\u0440\u0440\u04cf\u0435.com/id")
    assert verdict.href == "https://xn--80ak6aa92e.com/id"
    assert verdict.host == "xn--80ak6aa92e.com"
    assert verdict.unicode_host == "\u0430\u0440\u0440\u04cf\u0435.com"
    assert verdict.warnings == (
        "\u0430\u0440\u0440\u04cf\u0435.com looks like apple.com, and is another site.",
        "\u0430\u0440\u0440\u04cf\u0435 is written in Cyrillic letters that look like apple.",
        "The host is an international name (Punycode): xn--80ak6aa92e.com reads as "
        "\u0430\u0440\u0440\u04cf\u0435.com.",
    )


@pytest.mark.verifies("T07")
@corpus(
    "url",
    [
        "https://github\u3002com/",
        "https://\u24d6ithub.com/",
        "https://git\u200bhub.com/",
        "https://%67ithub.com/",
    ],
)
def test_a_disguised_host_is_refused_and_what_a_browser_makes_of_it_is_told(url: str):
    verdict = judge(url)
    assert verdict.href == "https://github.com/"
    assert not verdict.allowed and verdict.warnings


def test_a_domain_other_than_the_servers_own_is_told():
    verdict = judge("https://login.other.example/", server_host="mcp.example.com")
    assert verdict.allowed
    assert verdict.warnings == ("other.example is not the domain of the server that asks (example.com).",)


@pytest.mark.parametrize(
    "host", ["mcp.example.com", "example.com", "MCP.example.com", "mcp.example.com:8443"]
)
def test_a_link_to_the_servers_own_domain_is_ordinary(host: str):
    assert judge("https://login.example.com/", server_host=host).warnings == ()


@pytest.mark.parametrize("host", ["::1", "[::1]", "127.0.0.1", "not a host", ""])
def test_any_spelling_of_a_servers_host_can_be_compared(host: str):
    assert judge("https://example.com/", server_host=host).allowed


def test_a_domain_other_than_those_before_is_told():
    verdict = judge("https://example.net/", before={"example.com", "example.org"})
    assert verdict.warnings == ("This server sent you to example.com and 1 more before; example.net is new.",)


def test_a_domain_consented_to_before_is_ordinary_also_where_it_is_not_the_servers_own():
    assert judge("https://github.com/x", server_host="mcp.example.com", before=["github.com"]).warnings == ()
    assert judge("https://github.com/x", before=[]).warnings == ()


@given(st.text())
def test_no_text_breaks_the_judge(text: str):
    assert isinstance(judge(text), Verdict)


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            ["https:", "http:", "//", "/", "\\", "@", ":", ".", "?", "#", "%40", "%2e", "xn--", "localhost"]
        ),
        st.sampled_from(
            ["github.com", "evil.example", "127.0.0.1", "[::1]", "\u3002", "\uff0f", "\u200b", "443", "-"]
        ),
        st.text(max_size=3),
    ),
    max_size=8,
).map("".join)


@given(st.one_of(PIECES, PIECES.map("https://".__add__)))
def test_two_parsers_agree_on_every_link_that_may_open(url: str):
    verdict = judge(url)
    if verdict.allowed:
        assert verdict.href.isascii() and verdict.href.isprintable() and " " not in verdict.href
        other = urlsplit(verdict.href)
        assert other.scheme == "https" or (
            other.scheme == "http" and "localhost" in verdict.host + "localhost"
        )
        assert other.hostname == verdict.host.strip("[]")
        assert other.username is None and other.password is None
        assert verdict.host.removesuffix(".").endswith(verdict.domain)


@given(st.one_of(PIECES, PIECES.map("https://".__add__)))
def test_a_link_that_may_open_is_judged_alike_once_it_is_serialised(url: str):
    first = judge(url)
    if first.allowed:
        again = judge(first.href)
        assert (again.refusal, again.href, again.host) == (None, first.href, first.host)
        assert set(again.warnings) <= set(first.warnings)


WATCH = """
import sys
from askback.client.consent import judge
from tests.client.consent.good import ORDINARY, WARNED
from tests.client.consent.hostile import HOSTILE

def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.system", "urllib.", "http.")):
        print("touched", event, args)

judge("https://example.com")
sys.addaudithook(watch)
for url in [*ORDINARY, *WARNED, *(url for urls in HOSTILE.values() for url in urls)]:
    judge(url, server_host="mcp.example.org", before=["example.net"])
print("done")
"""


@pytest.mark.verifies("R62")
def test_nothing_is_fetched_or_looked_up_to_judge_a_link():
    root = ROOT
    said = subprocess.run(
        [sys.executable, "-c", WATCH], capture_output=True, text=True, check=True, cwd=root
    ).stdout
    assert said == "done\n"


@pytest.mark.verifies("R68")
@corpus("blank", ["\u3164", "\ufe0f", "\ufffc", "\U0001d159", "\U000e0101"])
def test_what_no_screen_draws_is_in_no_host(blank: str):
    assert safe_line(blank) == f"<U+{ord(blank):04X}>"
    assert "a character that cannot be seen" in (judge(f"https://git{blank}hub.com/").refusal or "")
