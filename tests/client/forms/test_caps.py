"""Forms made to choke whoever reads them: judged at once, whatever they hold."""

from collections.abc import Callable
from typing import Any

import pytest

from askback.client.forms import Draft, ReceivedForm, read_form
from tests.client.forms.schemas import blank_of, entry_of, form
from tests.support.corpus import corpus

pytestmark = pytest.mark.timeout(30)
"""What is too large is never read: reading it would take far longer."""


def nested(depth: int) -> Any:
    inner: Any = {"type": "string"}
    for _ in range(depth):
        inner = {"anyOf": [inner, {"type": "null"}]}
    return inner


GIANTS: dict[str, Callable[[], Any]] = {
    "ten megabytes in a title": lambda: form(a={"type": "string", "title": "x" * 10_000_000}),
    "ten megabytes in a name": lambda: form(**{"x" * 10_000_000: {"type": "string"}}),
    "ten megabytes elsewhere": lambda: {**form(a={"type": "string"}), "$comment": ["x" * 1_000] * 10_000},
    "100,000 fields": lambda: form(**{f"f{number}": {"type": "string"} for number in range(100_000)}),
    "100,000 needed names": lambda: form(*map(str, range(100_000)), a={"type": "string"}),
    "100,000 options": lambda: form(a={"enum": [str(number) for number in range(100_000)]}),
    "100,000 titled options": lambda: form(
        a={"oneOf": [{"const": str(number)} for number in range(100_000)]}
    ),
    "a number of a million digits": lambda: form(a={"type": "integer", "minimum": 1 << 3_000_000}),
}


@pytest.mark.verifies("T17", "T19")
@corpus("giant", GIANTS)
def test_a_giant_form_is_refused_before_it_is_read(giant: str):
    schema = GIANTS[giant]()
    blank = read_form(schema)
    assert blank.refusal is not None
    assert blank.entries == ()


@pytest.mark.verifies("T17")
def test_a_form_that_refers_to_itself_ends():
    schema = {
        **form(a={"$ref": "#/$defs/a"}),
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    }
    assert read_form(schema).left_out[0].why == "its description leads in circles"
    assert blank_of(a=nested(5_000), b={"type": "string"}).left_out[0].name == "a"


@pytest.mark.verifies("T17")
def test_a_schema_that_holds_itself_ends():
    schema = form(a={"type": "string"})
    schema["properties"]["b"] = schema
    assert read_form(schema).refusal is not None


AMPLIFIED: dict[str, Any] = {
    "one list for all": {"a": {"enum": [str(number) for number in range(1_000)]}},
    "a list of lists": {
        "a": {"oneOf": [{"$ref": "#/$defs/b"}] * 1_000},
        "b": {"enum": [str(number) for number in range(1_000)]},
    },
    "many keywords": {"a": {"type": "string", **{f"x{number}": 0 for number in range(20_000)}}},
    "many branches": {"a": {"anyOf": [{"type": "null"}] * 10_000}},
    "long words": {"a": {"type": "string", "title": "p4$$ " * 90, "description": "p4$$w0 r d 1 2 a " * 290}},
}


@pytest.mark.verifies("T17")
@corpus("shape", AMPLIFIED)
def test_references_make_no_giant_of_a_small_form(shape: str):
    schema = {
        **form(**{f"f{number}": {"$ref": "#/$defs/a"} for number in range(100)}),
        "$defs": AMPLIFIED[shape],
    }
    read_form(form(a={"type": "string"}))
    blank = read_form(schema)
    assert sum(len(entry.options) for entry in blank.entries) <= 11_000


@pytest.mark.verifies("T19")
def test_long_words_are_cut_before_they_are_shown():
    blank = blank_of(
        **{
            "n" * 600: {"type": "string"},
            "a": {"type": "string", "title": "t" * 9_000, "description": "d" * 9_000},
        }
    )
    (entry,) = blank.entries
    assert (len(entry.label), len(entry.hint)) == (500, 5_000)
    assert entry.label.endswith("…") and entry.hint.endswith("…")
    assert (len(blank.left_out[0].name), blank.left_out[0].why) == (
        500,
        "its name is too long or cannot be read",
    )


LARGEST = {
    "words": {"type": "string", "description": "please tell us about the weather " * 70},
    "disguises": {"type": "string", "description": "p4$$w0 r d 1 2 a " * 140},
    "marks": {"type": "string", "title": "e" + "\u0301" * 200, "description": "\u0301a" * 400},
    "options": {"type": "string", "enum": [str(number) for number in range(110)]},
}


@pytest.mark.verifies("T17")
@corpus("kind", LARGEST)
def test_the_largest_form_that_is_read_at_all_is_read_in_moments(kind: str):
    properties = {f"f{number}": {**LARGEST[kind], "default": str(number)} for number in range(90)}
    schema = form(**properties)
    blank: ReceivedForm = read_form(schema)
    draft = Draft(blank)
    draft.problems()
    assert len(blank.entries) == 90


@pytest.mark.verifies("T13", "T17")
def test_a_form_that_says_more_than_can_be_looked_through_is_suspect():
    blank = blank_of(
        **{f"f{number}": {"type": "string", "description": "weather " * 300} for number in range(20)}
    )
    assert blank.suspicion is not None and "more than can be looked through" in blank.suspicion


@pytest.mark.verifies("T18")
@corpus("pattern", ["^(a+)+$", "((((", "(?<!a+)b", "x" * 10_000])
def test_a_pattern_is_shown_and_never_run(pattern: str):
    entry = entry_of({"type": "string", "pattern": pattern})
    draft = Draft(blank_of(field={"type": "string", "pattern": pattern}))
    assert draft.write("field", "a" * 40_000 + "!") is None
    assert entry.expects.startswith("text; the server may check it against ")
    assert len(entry.expects) < 120


THOUSAND = [str(number) for number in range(1_000)]
BOXES: dict[str, Any] = {
    "text": {"type": "string"},
    "email": {"type": "string", "format": "email"},
    "uri": {"type": "string", "format": "uri"},
    "date": {"type": "string", "format": "date"},
    "date-time": {"type": "string", "format": "date-time"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "choice": {"enum": THOUSAND},
    "choices": {"type": "array", "items": {"enum": THOUSAND}},
}
PASTED = {
    "digits": "9" * 50_000,
    "digits and commas": "1," * 25_000,
    "letters and commas": "a," * 25_000,
    "dashes": "-" * 50_000,
    "a long fraction": "0." + "1" * 49_000,
    "beginnings of tokens": "eyJ-" * 12_500,
    "beginnings of addresses": "http://a:" * 5_500,
    "beginnings of keys": "-----BEGIN " * 4_500,
}


@pytest.mark.verifies("T17")
@corpus("pasted", PASTED)
@corpus("kind", BOXES)
def test_whatever_is_pasted_into_a_field_is_judged_in_moments(pasted: str, kind: str):
    draft = Draft(blank_of(field=BOXES[kind]))
    draft.write("field", PASTED[pasted])
    draft.stops()
