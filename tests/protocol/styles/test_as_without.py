"""What the hosts' own calls take without Askback, they take with it: on every revision and host."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from fastmcp import Context as FastMCPContext
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import ElicitRequest, ElicitRequestFormParams
from pydantic import BaseModel, ConfigDict

from askback import Askback
from askback.errors import SecretInForm
from askback.schema.host_form import MAX_DEPTH
from askback.testing import Run, accept, decline, raw, run_tool
from askback.testing.script import Reply
from tests.protocol.styles.conftest import RunBody, Way
from tests.protocol.styles.servers import End, asking, content_of
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio

EMPTY: Mapping[str, Any] = {"type": "object", "properties": {}}

TREE: Mapping[str, Any] = {
    "type": "object",
    "title": "Tree",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#"}},
        "home": {"type": "object", "properties": {"street": {"type": "string"}}},
        "note": {},
    },
    "required": ["name"],
}
"""Refers to itself, has an object in it, and a field whose type is open."""


class Empty(BaseModel):
    pass


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


class Parcel(BaseModel):
    weight: int


class Label(BaseModel):
    model_config = ConfigDict(extra="allow")

    text: str


def schemas(run: Run) -> list[Mapping[str, Any]]:
    return [asked.schema for asked in run.asked]


async def elicit(ctx: Any, schema: Mapping[str, Any], message: str = "Proceed?") -> str:
    """What a handler gets from the session's own call."""
    answer = await ctx.session.elicit_form(message, dict(schema))
    return f"{answer.action} {json.dumps(answer.content)}"


REPLIES: dict[str, tuple[Any, str]] = {
    "accept": ({"action": "accept", "content": {}}, "accept {}"),
    "accept without content": ({"action": "accept"}, "accept null"),
    "decline": ({"action": "decline"}, "decline null"),
    "cancel": ({"action": "cancel"}, "cancel null"),
}


@corpus("reply", REPLIES)
async def test_a_form_without_fields_is_a_question_for_yes_or_no(run: RunBody, reply: str):
    sent, text = REPLIES[reply]
    result = await run(lambda ctx: elicit(ctx, EMPTY), [raw(sent)])
    assert (result.text, schemas(result)) == (text, [EMPTY])


async def test_a_form_with_fields_is_not_accepted_without_content(run: RunBody):
    """Unlike one without: there the answer is not whole."""
    replies = [raw({"action": "accept"}), raw({"action": "accept", "content": {"name": "oak"}})]
    result = await run(lambda ctx: elicit(ctx, TREE), replies)
    assert (result.text, len(result.asked)) == ('accept {"name": "oak"}', 2)


async def test_a_model_without_fields_can_be_elicited(run_on_sdk: RunBody):
    async def body(ctx: Context) -> str:
        return repr((await ctx.elicit("Proceed?", Empty)).action)

    assert (await run_on_sdk(body, [accept()])).text == "'accept'"


@corpus(("reply", "is_shipped"), [(accept(), True), (decline(), False)])
async def test_a_resolver_may_ask_with_a_model_without_fields(way: Way, reply: Reply, is_shipped: bool):
    server: MCPServer[Any] = MCPServer("test")

    async def proceed() -> Elicit[Empty]:
        return Elicit("Proceed?", Empty)

    async def ship(agreed: Annotated[Empty, Resolve(proceed)]) -> str:
        return "shipped"

    server.add_tool(ship, name="t")
    Askback(server)
    result = await run_tool(
        server, "t", None, [reply], revision=way.revision, always_replay=way.always_replay
    )
    assert (result.text == "shipped") is is_shipped is not result.is_error
    assert len(result.asked) == 1


async def test_a_round_of_the_bodys_own_may_have_no_fields(run: RunBody):
    async def body(ctx: Context) -> End:
        if ctx.input_responses is None:
            params = ElicitRequestFormParams(message="Proceed?", requested_schema=dict(EMPTY))
            return asking(sure=ElicitRequest(params=params), state="asked")
        return str(content_of(ctx, "sure"))

    assert (await run(body, [accept()])).text == "{}"


async def test_a_message_may_be_empty(run: RunBody):
    fields = {"type": "object", "properties": {"row": {"type": "integer"}}}
    result = await run(lambda ctx: elicit(ctx, fields, ""), [accept(row=3)])
    assert (result.text, [asked.message for asked in result.asked]) == ('accept {"row": 3}', [""])


async def test_a_schema_that_no_form_can_be_made_of_goes_out_as_it_is(run: RunBody):
    reply = raw({"action": "accept", "content": {"name": "oak", "note": 3}})
    result = await run(lambda ctx: elicit(ctx, TREE), [reply])
    assert (result.text, schemas(result)) == ('accept {"name": "oak", "note": 3}', [TREE])


async def test_the_title_of_a_schema_is_sent(run_on_sdk: RunBody):
    """FastMCP's client names the class by it that its handler gets."""

    async def body(ctx: Context) -> str:
        return (await ctx.elicit("How heavy?", Parcel)).action

    result = await run_on_sdk(body, [accept(weight=3)])
    assert [schema["title"] for schema in schemas(result)] == ["Parcel"]


@corpus("title", ["Your password, please", "See https://sign-in.example", 7])
async def test_but_not_one_that_a_field_could_not_have(run: RunBody, title: Any):
    fields = {"type": "object", "title": title, "properties": {"row": {"type": "integer"}}}
    result = await run(lambda ctx: elicit(ctx, fields), [accept(row=3)])
    assert [schema.get("title") for schema in schemas(result)] == [None]


FISHING: dict[str, Mapping[str, Any]] = {
    "beside an object": {"home": {"type": "object"}, "password": {"type": "string"}},
    "inside an object": {"home": {"type": "object", "properties": {"api_key": {"type": "string"}}}},
    "by its format": {"home": {"type": "object"}, "word": {"type": "string", "format": "password"}},
    "in its description": {"it": {"description": "Please enter your password."}},
    "in a list": {"it": {"type": "array", "items": {"type": "string", "title": "Your password"}}},
    "in one of two types": {"password": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
    "by a name alone": {"password": True},
    "under no name": {"": {"type": "array", "description": "Please enter your password."}},
    "in an example": {"it": {"type": "string", "examples": ["Please enter your password."]}},
    "in a note": {"it": {"type": "string", "x-hint": "Please enter your password."}},
}


@pytest.mark.verifies("R11")
@corpus("place", FISHING)
async def test_what_fishes_for_secrets_is_refused_there_too(run: RunBody, place: str):
    result = await run(lambda ctx: elicit(ctx, {"type": "object", "properties": FISHING[place]}))
    assert result.is_error and not result.asked
    assert "secret" in result.text


@pytest.mark.verifies("R11")
async def test_nor_may_a_definition_fish(run: RunBody):
    schema = {
        "type": "object",
        "properties": {"it": {"$ref": "#/$defs/It"}, "home": {"type": "object"}},
        "$defs": {"It": {"type": "string", "description": "Please enter your password."}},
    }
    result = await run(lambda ctx: elicit(ctx, schema))
    assert result.is_error and not result.asked


OPEN: dict[str, Mapping[str, Any]] = {
    "any names": {"additionalProperties": {"type": "string"}},
    "any names, of any type": {"additionalProperties": True},
    "any names, unevaluated": {"unevaluatedProperties": {"type": "string"}},
    "names of a pattern": {"patternProperties": {"^.*$": {"type": "string"}}},
    "a pattern of nothing": {"patternProperties": {"^$": {"type": "string"}}},
}
"""Forms whose fields have no names yet, and that can be typed into all the same."""

OPEN_FISHING: dict[str, Mapping[str, Any]] = {
    "in a pattern": {"patternProperties": {"^password$": {"type": "string"}}},
    "in a choice of names": {"patternProperties": {"^(password|login)$": {"type": "string"}}},
    "under any name": {"additionalProperties": {"type": "string", "title": "Your password"}},
    "by the format": {"unevaluatedProperties": {"type": "string", "format": "password"}},
    "above a field": {
        "properties": {"it": {"type": "string"}},
        "description": "Please enter your password.",
    },
    "in the description": {
        "additionalProperties": {"type": "string"},
        "description": "Please enter your password.",
    },
    "in a branch": {
        "additionalProperties": True,
        "anyOf": [{"description": "Please enter your password."}],
    },
    "beside choices that are none": {"properties": {"password": {"type": ["string", "null"], "enum": []}}},
    "with an empty excuse": {"properties": {"password": {"type": ["string", "null"], "notASecret": " "}}},
}


@pytest.mark.verifies("R11")
@corpus("names", OPEN)
async def test_the_message_of_a_form_with_open_names_may_not_fish(run: RunBody, names: str):
    schema = {**EMPTY, **OPEN[names]}
    result = await run(lambda ctx: elicit(ctx, schema, "Enter your GitHub password"))
    assert result.is_error and not result.asked
    assert "secret" in result.text


@corpus("names", OPEN)
async def test_else_a_form_with_open_names_goes_out(run: RunBody, names: str):
    schema = {**EMPTY, **OPEN[names], "description": "What the label says"}
    reply = raw({"action": "accept", "content": {"hat": "red"}})
    result = await run(lambda ctx: elicit(ctx, schema), [reply])
    assert (result.text, schemas(result)) == ('accept {"hat": "red"}', [schema])


@pytest.mark.verifies("R11")
@corpus("place", OPEN_FISHING)
async def test_nor_may_a_form_with_open_names_fish(run: RunBody, place: str):
    result = await run(lambda ctx: elicit(ctx, {**EMPTY, **OPEN_FISHING[place]}))
    assert result.is_error and not result.asked
    assert "secret" in result.text


@pytest.mark.verifies("R11")
async def test_the_title_of_a_form_with_open_names_is_left_out_if_it_fishes(run: RunBody):
    schema = {**EMPTY, "additionalProperties": True, "title": "Your password, please"}
    result = await run(lambda ctx: elicit(ctx, schema), [decline()])
    assert schemas(result) == [{**EMPTY, "additionalProperties": True}]


async def test_a_model_that_takes_any_names_can_be_elicited(run_on_sdk: RunBody):
    async def body(ctx: Context) -> str:
        return repr(await ctx.elicit("Proceed?", Anything))

    result = await run_on_sdk(body, [raw({"action": "accept", "content": {}})])
    assert "'accept'" in result.text


async def test_a_model_with_fields_gets_what_else_was_sent(run_on_sdk: RunBody):
    async def body(ctx: Context) -> str:
        answer = await ctx.elicit("What does it say?", Label)
        return repr(getattr(answer, "data", answer))

    reply = raw({"action": "accept", "content": {"text": "this side up", "more": "fragile"}})
    result = await run_on_sdk(body, [reply])
    assert result.text == "Label(text='this side up', more='fragile')"
    assert schemas(result) == [render_elicitation_schema(Label)]


async def test_a_model_of_fastmcp_gets_it_as_well(way: Way):
    reply = raw({"action": "accept", "content": {"text": "this side up", "more": "fragile"}})
    result = await on_fastmcp(way, reply, message="What does it say?", response_type=Label)
    assert result.text == str(Label.model_validate({"text": "this side up", "more": "fragile"}))
    assert [schema["additionalProperties"] for schema in schemas(result)] == [True]


ROW = {"type": "string"}

AS_WRITTEN: dict[str, Mapping[str, Any]] = {
    "a pattern": {"properties": {"row": {**ROW, "pattern": "^[A-Z]$"}}},
    "steps": {"properties": {"row": ROW, "size": {"type": "number", "multipleOf": 0.5}}},
    "bounds that are not part": {
        "properties": {"row": ROW, "size": {"type": "number", "exclusiveMinimum": 1}}
    },
    "a description": {"properties": {"row": ROW}, "description": "Where you sit"},
    "examples": {"properties": {"row": {**ROW, "examples": ["B"]}}},
    "notes of others": {"properties": {"row": {**ROW, "x-order": 1}}, "x-layout": "narrow"},
    "its dialect": {"properties": {"row": ROW}, "$schema": "https://json-schema.org/draft/2020-12/schema"},
    "no others": {"properties": {"row": ROW}, "additionalProperties": False},
    "any others": {"properties": {"row": ROW}, "additionalProperties": True},
    "a default of nothing": {"properties": {"row": {**ROW, "default": None}}},
    "or nothing": {"properties": {"row": {"anyOf": [ROW, {"type": "null"}]}}},
    "a reference": {"properties": {"row": {"$ref": "#/$defs/Row"}}, "$defs": {"Row": ROW}},
    "numbers to choose": {"properties": {"row": ROW, "seat": {"enum": [1, 2]}}},
}


@corpus("keyword", AS_WRITTEN)
async def test_a_schema_with_fields_goes_out_as_it_is(run: RunBody, keyword: str):
    schema = {"type": "object", "required": ["row"], **AS_WRITTEN[keyword]}
    result = await run(lambda ctx: elicit(ctx, schema), [accept(row="B")])
    assert (result.text, schemas(result)) == ('accept {"row": "B"}', [schema])


FITTING: dict[str, Mapping[str, Any]] = {
    "a field nobody asked for": {"row": 3, "more": "window"},
    "a null": {"row": 3, "name": None},
    "a number as text": {"row": "3"},
    "nothing but what must be": {"row": 3},
    "a whole number as a float": {"row": 3.0},
    "a yes as text": {"row": 3, "aisle": "true"},
}


@corpus("reply", FITTING)
async def test_what_fits_comes_back_as_it_was_sent(run: RunBody, reply: str):
    fields = {
        "row": {"type": "integer"},
        "name": {"type": "string"},
        "aisle": {"type": "boolean", "default": True},
    }
    schema = {"type": "object", "properties": fields, "required": ["row"]}
    result = await run(
        lambda ctx: elicit(ctx, schema), [raw({"action": "accept", "content": dict(FITTING[reply])})]
    )
    assert result.text == f"accept {json.dumps(FITTING[reply])}"


MENDED: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]] = {
    "what may not be added": ({"additionalProperties": False}, {"row": 3, "more": "x"}, {"row": 3}),
    "an empty text that is no date": ({}, {"row": 3, "day": ""}, {"row": 3}),
    "a default that must be there": ({"required": ["row", "aisle"]}, {"row": 3}, {"row": 3, "aisle": True}),
}


@corpus("what", MENDED)
async def test_what_the_schema_forbids_and_nobody_need_be_asked_about_is_mended(run: RunBody, what: str):
    rules, sent, got = MENDED[what]
    fields = {
        "row": {"type": "integer"},
        "day": {"type": "string", "format": "date"},
        "aisle": {"type": "boolean", "default": True},
    }
    schema = {"type": "object", "properties": fields, "required": ["row"], **rules}
    result = await run(lambda ctx: elicit(ctx, schema), [raw({"action": "accept", "content": dict(sent)})])
    assert (result.text, len(result.asked)) == (f"accept {json.dumps(got)}", 1)


async def test_what_does_not_fit_is_asked_again(run: RunBody):
    schema = {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]}
    replies = [raw({"action": "accept", "content": {"row": "front"}}), accept(row=3)]
    result = await run(lambda ctx: elicit(ctx, schema), replies)
    assert (result.text, len(result.asked)) == ('accept {"row": 3}', 2)


CHOOSING: Mapping[str, Any] = {
    "type": "object",
    "description": "For the way",
    "properties": {
        "meals": {"type": "array", "items": {"type": "string", "enum": ["soup", "stew"]}},
        "seat": {"type": "string", "default": "aisle", "x-order": 1},
        "row": {"type": "string", "pattern": "^[A-Z]$"},
    },
    "required": ["meals", "seat", "row"],
    "additionalProperties": True,
}


async def test_what_june_2025_has_no_words_for_alone_is_sent_in_other_words(way: Way, run: RunBody):
    if way.revision != "2025-06-18":
        reply = {"meals": ["stew"], "row": "B", "more": 1}
        sent = CHOOSING
    else:
        reply = {"meals.stew": True, "meals.soup": False, "row": "B", "more": 1}
        soup, stew = (
            {"type": "boolean", "title": f"meals: {one}", "default": False} for one in ("soup", "stew")
        )
        seat = {"type": "string", "description": "(default: aisle)", "x-order": 1}
        properties = {
            "meals.soup": soup,
            "meals.stew": stew,
            "seat": seat,
            "row": CHOOSING["properties"]["row"],
        }
        sent = {**CHOOSING, "properties": properties, "required": ["row"]}
    result = await run(lambda ctx: elicit(ctx, CHOOSING), [raw({"action": "accept", "content": reply})])
    got = json.loads(result.text.removeprefix("accept "))
    assert got == {"meals": ["stew"], "seat": "aisle", "row": "B", "more": 1}
    assert schemas(result) == [sent]


@corpus("schema", [{"type": "object"}, {"properties": {}}])
async def test_what_every_client_needs_is_added(run: RunBody, schema: Mapping[str, Any]):
    """The SDK's client cannot read a form without `type` and `properties`."""
    result = await run(lambda ctx: elicit(ctx, schema), [raw({"action": "accept", "content": {}})])
    assert (result.text, schemas(result)) == ("accept {}", [EMPTY])


NO_OBJECTS: dict[str, Mapping[str, Any]] = {
    "nothing": {},
    "fields alone": {"row": {"type": "integer"}},
    "a list": {"type": "array", "items": {"type": "string"}},
    "properties in a list": {"type": "object", "properties": []},
}


@corpus("schema", NO_OBJECTS)
async def test_a_schema_that_is_of_no_object_is_refused(run: RunBody, schema: str):
    """No client could read it: the server's author is told, and the client is not blamed."""
    result = await run(lambda ctx: elicit(ctx, NO_OBJECTS[schema]))
    assert result.is_error and not result.asked
    assert result.text.startswith("the JSON Schema is not that of an object")


async def test_what_is_only_chosen_may_have_such_a_name(run: RunBody):
    either = {"anyOf": [{"const": "kept"}, {"enum": ["changed"]}, {"type": "null"}]}
    fields = {"home": {"type": "object"}, "password": either, "token": {"type": "boolean"}}
    result = await run(lambda ctx: elicit(ctx, {"type": "object", "properties": fields}), [decline()])
    assert result.text == "decline null"


async def test_a_question_without_fields_may_speak_of_secrets(run: RunBody):
    """Nothing can be typed."""
    result = await run(lambda ctx: elicit(ctx, EMPTY, "Please enter your password."), [decline()])
    assert result.text == "decline null"


@corpus("depth", [MAX_DEPTH // 2, 600])
async def test_a_schema_as_deep_as_that_is_refused(run: RunBody, depth: int):
    deep: Any = {}
    for _ in range(depth):
        deep = {"properties": {"it": deep}}
    result = await run(lambda ctx: elicit(ctx, {"type": "object", "properties": {"it": deep}}))
    assert result.is_error and result.text.startswith("the JSON Schema is")


@pytest.mark.verifies("R11")
async def test_nor_may_the_message_of_such_a_form_fish(run: RunBody):
    async def body(ctx: Any) -> str:
        try:
            return await elicit(ctx, TREE, "Please enter your password.")
        except SecretInForm as error:
            return str(error.field)

    assert (await run(body)).text == "None"


async def test_an_excuse_is_not_sent(run: RunBody):
    fields = {"token": {"notASecret": "of the game"}, "notASecret": {"type": "boolean"}}
    result = await run(
        lambda ctx: elicit(ctx, {"type": "object", "properties": fields}),
        [raw({"action": "accept", "content": {"token": "hat"}})],
    )
    assert result.text == 'accept {"token": "hat"}'
    sent = {"token": {}, "notASecret": {"type": "boolean"}}
    assert schemas(result) == [{"type": "object", "properties": sent}]


@dataclass
class Size:
    size: int | float


@dataclass
class Note:
    note: int | str


MIXED: dict[str, tuple[type, Reply]] = {
    "Size(size=2)": (Size, accept(size=2)),
    "Size(size=2.5)": (Size, accept(size=2.5)),
    "Note(note=7)": (Note, accept(note=7)),
    "Note(note='seven')": (Note, accept(note="seven")),
}


@corpus("text", MIXED)
async def test_a_field_of_two_types_can_be_elicited_on_fastmcp(way: Way, text: str):
    response_type, reply = MIXED[text]
    result = await on_fastmcp(way, reply, message="Which one?", response_type=response_type)
    assert result.text == text


async def test_an_empty_message_with_a_title_for_the_answer_can_be_elicited_on_fastmcp(way: Way):
    result = await on_fastmcp(way, accept("oak"), message="", response_type=str, response_title="Tree")
    assert result.text == "oak"
    assert [asked.schema["properties"]["value"]["title"] for asked in result.asked] == ["Tree"]


async def on_fastmcp(way: Way, reply: Reply, **asked: Any) -> Run:
    server: FastMCP[Any] = FastMCP("test")

    async def body(ctx: FastMCPContext) -> str:
        answer = await ctx.elicit(**asked)
        return str(getattr(answer, "data", answer.action))

    server.tool(body, name="t")
    Askback(server)
    return await run_tool(server, "t", None, [reply], revision=way.revision, always_replay=way.always_replay)
