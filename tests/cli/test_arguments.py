"""`name=value`: what reaches the tool, and what is said where it cannot."""

from pathlib import Path
from typing import Any

import pytest
from mcp_types import Prompt, PromptArgument, Tool

from askback.cli.call.arguments import CallSignature, read_arguments, signature_of
from askback.cli.console import Misused
from tests.support.corpus import corpus

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pizza": {"type": "string"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "hot": {"type": "boolean"},
        "size": {"$ref": "#/$defs/Size"},
        "toppings": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"$ref": "#/$defs/Size"}},
        "address": {"type": "object"},
        "table": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "free": {},
        "level": {"enum": [1, 2, 3]},
        "itself": {"$ref": "#/properties/itself"},
    },
    "required": ["pizza", "count"],
    "$defs": {"Size": {"type": "string", "enum": ["small", "large"]}},
}
ORDER = signature_of(Tool(name="order", input_schema=SCHEMA))

READ: list[tuple[list[str], dict[str, Any]]] = [
    (["pizza=Margherita"], {"pizza": "Margherita"}),
    (["pizza=5"], {"pizza": "5"}),
    (["pizza="], {"pizza": ""}),
    (["pizza=a=b:=c"], {"pizza": "a=b:=c"}),
    (["count=12"], {"count": 12}),
    (["count=-1"], {"count": -1}),
    (["price=1.5"], {"price": 1.5}),
    (["price=2"], {"price": 2}),
    (["hot=yes"], {"hot": True}),
    (["hot=FALSE"], {"hot": False}),
    (["size=small"], {"size": "small"}),
    (["toppings=ham"], {"toppings": ["ham"]}),
    (["toppings=ham", "toppings=olives"], {"toppings": ["ham", "olives"]}),
    (['toppings=["ham", "olives"]'], {"toppings": ["ham", "olives"]}),
    (["sizes=small", "sizes=large"], {"sizes": ["small", "large"]}),
    (['address={"town": "Delft"}'], {"address": {"town": "Delft"}}),
    (["table=4"], {"table": 4}),
    (["table:=null"], {"table": None}),
    (["either=4"], {"either": 4}),
    (["either=four"], {"either": "four"}),
    (["free=4"], {"free": 4}),
    (["free=four"], {"free": "four"}),
    (["level=2"], {"level": 2}),
    (["itself=x"], {"itself": "x"}),
    (['count:="as it is"'], {"count": "as it is"}),
    (["unlisted:=1"], {"unlisted": 1}),
]


@corpus(("words", "values"), READ)
def test_a_value_is_read_as_the_tool_wants_it(tmp_path: Path, words: list[str], values: dict[str, Any]):
    read = read_arguments(words, ORDER, here=tmp_path)
    assert read == values
    assert [type(value) for value in read.values()] == [type(value) for value in values.values()]


SAID: list[tuple[str, str]] = [
    ("piza=x", "The tool order has no argument piza. Did you mean pizza?"),
    ("zzz=x", "The tool order has no argument zzz. It takes pizza, count, price"),
    ("count=many", "count: expected whole number, not 'many'."),
    ("count=1.5", "count: expected whole number"),
    ("price=nan", "price: expected number, not 'nan'."),
    ("hot=maybe", "hot: expected true or false"),
    ("size=Small", "size: expected one of small, large, not 'Small'. Did you mean small?"),
    ("sizes=big", "sizes: expected list (one of small, large each), not 'big'."),
    ("address=Delft", "address: expected JSON object"),
    ("level=4", "level: expected one of 1, 2, 3, not '4'."),
    ("table:=nul", "table:= takes JSON, not 'nul'"),
    ("table:=" + "[" * 200_000, "nested too deeply"),
    ("table:=" + "[" * 101 + "]" * 101, "nested too deeply"),
    ("table:=" + "[" * 3_000 + "]" * 3_000, "nested too deeply"),
    ("table:=NaN", "NaN is not JSON"),
    ("order", "'order' is not an argument. Write name=value"),
    ("pizza=@gone.txt", "write pizza:='\"@gone.txt\"'"),
]


@pytest.mark.parametrize(("word", "said"), SAID, ids=[word[:40] for word, _ in SAID])
def test_a_value_that_does_not_fit_is_told_what_would(tmp_path: Path, word: str, said: str):
    with pytest.raises(Misused) as caught:
        read_arguments([word], ORDER, here=tmp_path)
    assert said in str(caught.value)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path):
    with pytest.raises(Misused) as caught:
        read_arguments(["piza=x", "count=many", "hot=yes", "hot=no"], ORDER, here=tmp_path)
    assert [line.split()[0] for line in str(caught.value).splitlines()] == ["The", "count:", "hot"]
    assert "hot is given twice" in str(caught.value)


def test_a_value_can_be_the_text_of_a_file(tmp_path: Path):
    (tmp_path / "note.txt").write_text("two\nlines")
    (tmp_path / "address.json").write_text('{"town": "Delft"}')
    read = read_arguments(["pizza=@note.txt", "address:=@address.json"], ORDER, here=tmp_path)
    assert read == {"pizza": "two\nlines", "address": {"town": "Delft"}}


@corpus("word", ["count=@key", "size=@key", "sizes=@key", "address:=@key"])
def test_the_text_of_a_file_is_repeated_in_no_error(tmp_path: Path, word: str):
    (tmp_path / "key").write_text("smal s3cret")
    with pytest.raises(Misused, match="the text of the file key") as caught:
        read_arguments([word], ORDER, here=tmp_path)
    assert "s3cret" not in str(caught.value)


def test_a_file_can_lie_in_the_persons_home(home: Path, tmp_path: Path):
    (home / "note.txt").write_text("at home")
    elsewhere = tmp_path / "elsewhere"
    assert read_arguments(["pizza=@~/note.txt"], ORDER, here=elsewhere) == {"pizza": "at home"}
    with pytest.raises(Misused, match="cannot be read"):
        read_arguments(["pizza=@~no-such-person/note.txt"], ORDER, here=elsewhere)


def test_a_prompt_takes_texts_alone(tmp_path: Path):
    plan = signature_of(Prompt(name="plan", arguments=[PromptArgument(name="days", required=True)]))
    assert read_arguments(["days=3"], plan, here=tmp_path) == {"days": "3"}
    assert [one.name for one in plan.missing({})] == ["days"]


HOSTILE: list[dict[str, Any]] = [
    {},
    {"properties": []},
    {"properties": {"a": None, "b": {"enum": "x", "anyOf": 5, "type": 7, "items": 3}}, "required": "a"},
    {"properties": {"a": {"$ref": "https://elsewhere.example/schema"}}},
    {"properties": {"a": {"$ref": "#/properties/a/items/0"}}, "required": [None, 1, {}]},
    {"properties": {str(number): {} for number in range(100_000)}},
]


@pytest.mark.parametrize("schema", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.verifies("T17")
def test_a_schema_of_a_hostile_server_is_read_without_harm(tmp_path: Path, schema: dict[str, Any]):
    offer: CallSignature = signature_of(Tool(name="order", input_schema={"type": "object", **schema}))
    assert [one.expects for one in offer.parameters[:2]] == ["any value"] * len(offer.parameters[:2])
    assert read_arguments(["unlisted:=1"], offer, here=tmp_path) == {"unlisted": 1}
