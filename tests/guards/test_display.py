"""Values as they stand in a question: whatever they are, they are one line, whole, and nothing to click."""

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import ip_address
from pathlib import PurePosixPath
from time import perf_counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, Field, SecretStr

from askback.errors import AuthorError
from askback.guards.arguments import digest_of
from askback.guards.templates import Template, defang, quote_values, render_value
from askback.model.texts import Words
from tests.support.corpus import corpus

pytestmark = pytest.mark.verifies("R13")


class Colour(Enum):
    RED = "red"


class Card(BaseModel):
    owner: str
    number: SecretStr = Field(default=SecretStr(""), exclude=True)


SHOWN: list[tuple[Any, str]] = [
    ("/tmp/a", "/tmp/a"),
    ("ada@example.org", "ada@example.org"),
    ("two words", '"two words"'),
    ("", '""'),
    ("true", '"true"'),
    (True, "true"),
    ("12", '"12"'),
    (12, "12"),
    (None, "null"),
    (1.5, "1.5"),
    (10**40, "1" + "0" * 40),
    ("a\nb", '"a\\nb"'),
    ("a\u202eb", '"a\\u202eb"'),
    ("\ud800", '"\\ud800"'),
    ("\U000e0041", '"\\U000e0041"'),
    ("Grüße", "Grüße"),
    ("東京", "東京"),
    ("\u201cquoted\u201d", '"\\u201cquoted\\u201d"'),
    ("https://example.org/a", "https[:]//example.org/a"),
    (AnyUrl("https://example.org/a"), "https[:]//example.org/a"),
    (["a", {"b": [None]}], '["a", {"b": [null]}]'),
    ((1, 2), "[1, 2]"),
    ({"b", "a"}, '["a", "b"]'),
    ({1: "a"}, '{"int 1": "a"}'),
    (b"\x00\xff", '"AP8="'),
    (date(2031, 5, 24), "2031-05-24"),
    (datetime(2031, 5, 24, tzinfo=UTC), "2031-05-24T00:00:00+00:00"),
    (time(9, 30), "09:30:00"),
    (timedelta(hours=1), "1:00:00"),
    (Decimal("1.50"), '"1.50"'),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (ip_address("127.0.0.1"), '"127.0.0.1"'),
    (PurePosixPath("/a b"), '"/a b"'),
    (Colour.RED, "red"),
    (Card(owner="ada", number=SecretStr("1234")), '{"owner": "ada", "number": (hidden)}'),
]


@pytest.mark.parametrize(("value", "text"), SHOWN, ids=[f"{text[:30]!r}" for _value, text in SHOWN])
def test_a_value_is_shown_whole_and_on_one_line(value: Any, text: str):
    assert render_value(value) == text


@given(st.text())
def test_no_text_breaks_out_of_its_line_or_its_quotes_and_none_is_lost(text: str):
    as_shown = render_value(text)
    assert as_shown.isprintable()
    if as_shown.startswith('"'):
        whole = as_shown.replace("[:]", ":").replace("[.]", ".")
        if not any(ord(letter) > 0xFFFF for letter in text) and "[:]" not in text and "[.]" not in text:
            assert json.loads(whole) == text
    else:
        assert as_shown.replace("[:]", ":").replace("[.]", ".") == text or "[" in text


@given(st.text(alphabet="ahtps:/w.[]"))
def test_what_was_made_safe_stays_as_it_is(text: str):
    once = defang(text)
    assert defang(once) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON, JSON)
def test_two_values_have_one_digest_only_if_they_are_one(one: Any, other: Any):
    is_same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (digest_of(one) == digest_of(other)) == is_same


def test_what_is_left_out_when_a_model_is_written_down_still_counts():
    digests = {digest_of(Card(owner="ada", number=SecretStr(number))) for number in ("1", "2")}
    assert len(digests) == 2


def test_a_value_without_end_is_refused():
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(AuthorError, match="levels"):
        render_value(endless)


def test_a_text_of_the_authors_is_left_alone_where_it_hides_nothing():
    assert quote_values("Zürich?\nOr Bern?", {"town": "Zürich"}) == "Zürich?\nOr Bern?"
    assert quote_values("a\nb and a\nb?", {"path": "a\nb"}) == '"a\\nb" and "a\\nb"?'


def test_long_values_take_time_in_proportion():
    def taken(length: int) -> float:
        texts = ["x" * length, "a.b:" * (length // 4), "é \n" * (length // 3)]
        begun = perf_counter()
        for text in texts:
            defang(render_value(text))
        return perf_counter() - begun

    taken(1_000)
    assert taken(200_000) < 2, "ten thousand times what it should take, if it grew with the square"


@corpus(
    ("text", "arguments", "said"),
    [
        ("Delete {path}?", {"path": "a"}, "Delete a?"),
        ("{{{path}}}", {"path": "a"}, "{a}"),
        ("{path!r:>6}", {"path": "a"}, "\"   'a'\""),
        ("{amount:,.2f}", {"amount": 1234.5}, "1,234.50"),
        ("{tool} {card.owner}", {"card": Card(owner="ada")}, "pay ada"),
        ("{path}", {"path": "{path} {0.__class__}"}, '"{path} {0.__class__}"'),
    ],
)
def test_a_template_reads_as_pythons_do(text: str, arguments: dict[str, Any], said: str):
    assert Template(text, option="say").render("pay", arguments) == said


@corpus(
    ("seconds", "said"),
    [
        (1, "a second"),
        (90, "90 seconds"),
        (120, "2 minutes"),
        (3600, "an hour"),
        (5400, "90 minutes"),
        (86400, "a day"),
        (604800, "7 days"),
        (0.5, "0.5 seconds"),
    ],
)
def test_a_length_of_time_in_words(seconds: float, said: str):
    assert Words().length(seconds) == said
