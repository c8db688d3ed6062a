"""Who can be asked, and what is said where nobody can."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import ElicitRequestURLParams

from askback import Accepted, Askback, CannotAsk, Text, ask
from askback.errors import SecretInForm
from askback.server.hosts import lowlevel_of
from askback.testing import REVISIONS, Script, accept, get_prompt, run_tool
from askback.testing.run import Wire, connect
from tests.support.ids import without_id
from tests.support.raw import accepting, answering, raw_client
from tests.support.servers.http import served
from tests.support.tool_servers import HOSTS, mcpserver

pytestmark = pytest.mark.anyio

PUSH = [revision for revision in REVISIONS if revision.startswith("2025")]
LATEST = "2026-07-28"


async def name_body() -> str:
    """Asks for a name."""
    return str(await ask("Name?", str))


async def careful_body() -> str:
    """Asks, and knows what to do where nobody can be asked."""
    try:
        return str(await ask("Name?", str))
    except CannotAsk as error:
        return f"cannot: {error.mode}"


CAN: dict[str, Mapping[str, Any]] = {"empty": {}, "form": {"form": {}}, "both": {"form": {}, "url": {}}}
CANNOT: dict[str, Mapping[str, Any]] = {
    "nothing": {},
    "links only": {"elicitation": {"url": {}}},
    "other things": {"sampling": {}, "roots": {}},
}


@pytest.mark.verifies("R01", "R02")
@pytest.mark.parametrize("declared", CAN)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_client_that_declares_forms_is_asked_and_an_empty_declaration_means_forms(
    revision: str, declared: str
):
    capabilities = {"elicitation": CAN[declared]}
    run = await run_tool(
        mcpserver(name_body), "t", None, [accept("Ada")], revision=revision, capabilities=capabilities
    )
    assert run.text == "Accepted(value='Ada')"


@pytest.mark.verifies("R01", "R02")
@pytest.mark.parametrize("declared", CANNOT)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_client_that_did_not_is_never_sent_a_question_and_the_author_can_go_on(
    revision: str, host: str, declared: str
):
    run = await run_tool(HOSTS[host](careful_body), "t", revision=revision, capabilities=CANNOT[declared])
    assert (run.text, run.asked) == ("cannot: form", [])


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("revision", PUSH)
async def test_left_uncaught_it_is_a_clear_tool_error_on_the_push_era(revision: str, host: str):
    run = await run_tool(HOSTS[host](name_body), "t", revision=revision, capabilities={})
    assert run.is_error
    assert "elicitation.form" in run.text and "catch CannotAsk" in run.text


@pytest.mark.verifies("R03")
@pytest.mark.parametrize("host", HOSTS)
async def test_left_uncaught_it_names_the_required_capability_on_the_rounds_era(host: str):
    with pytest.raises(MCPError) as caught:
        await run_tool(HOSTS[host](name_body), "t", revision=LATEST, capabilities={})
    assert caught.value.code == -32021
    assert caught.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    assert "elicitation.form" in caught.value.message


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_prompt_says_it_as_an_error_of_the_protocol(revision: str):
    server = MCPServer("letters")
    Askback(server)

    @server.prompt()
    async def letter() -> str:
        return str(await ask("To whom?", str))

    with pytest.raises(MCPError) as caught:
        await get_prompt(server, "letter", revision=revision, capabilities={})
    assert "elicitation.form" in caught.value.message
    assert caught.value.code == (-32021 if revision == LATEST else -32603)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
async def test_older_revisions_have_nobody_to_ask_and_that_is_said(version: str):
    run = await run_tool(mcpserver(name_body), "t", revision=version)
    assert run.is_error
    assert version in run.text and "2025-06-18 or later" in run.text
    assert (await run_tool(mcpserver(careful_body), "t", revision=version)).text == "cannot: form"


@pytest.mark.verifies("R04")
async def test_capabilities_are_read_from_each_request_and_never_remembered():
    async def body() -> str:
        first = await ask("Name?", str)
        try:
            second = await ask("Age?", int)
        except CannotAsk:
            return f"{first} and nobody to ask"
        return f"{first} {second}"

    async with raw_client(mcpserver(body)) as client:
        first = await client.call(capabilities={"elicitation": {}})
        assert first["resultType"] == "input_required"
        second = await client.call(capabilities={}, **answering(first, ask_1=accepting(value="Ada")))
        assert second["content"][0]["text"] == "Accepted(value='Ada') and nobody to ask"


ACCEPT = "application/json, text/event-stream"
HEADERS = {"accept": ACCEPT, "mcp-protocol-version": LATEST, "mcp-method": "tools/call", "mcp-name": "t"}
CLIENT_INFO = {"name": "raw", "version": "1"}


def request(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    params = {"name": "t", "arguments": {}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.verifies("R03")
async def test_over_http_the_missing_capability_is_status_400():
    async with served(mcpserver(name_body)) as url, httpx2.AsyncClient() as http:
        answer = await http.post(url, json=request({}), headers=HEADERS)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32021


PUSH_HEADERS = {"accept": ACCEPT, "mcp-protocol-version": "2025-11-25"}
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": CLIENT_INFO,
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "t", "arguments": {}},
}


@pytest.mark.parametrize("options", [{"stateless_http": True}, {"json_response": True}])
async def test_on_the_push_era_a_transport_without_a_way_back_says_so(options: dict[str, bool]):
    """Stateless HTTP never knows capabilities, so there the author states them; the way back is still missing."""
    stated = {"clients_can": ["form"]} if "stateless_http" in options else {}
    async with served(mcpserver(name_body, **stated), **options) as url, httpx2.AsyncClient() as http:
        headers = dict(PUSH_HEADERS)
        if "json_response" in options:
            opened = await http.post(url, json=HELLO, headers=headers)
            headers["mcp-session-id"] = opened.headers["mcp-session-id"]
            await http.post(url, json=READY, headers=headers)
        answer = await http.post(url, json=CALL, headers=headers)
    assert "no way back to the client" in answer.text


@pytest.mark.verifies("R05", "R06")
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_question_has_a_message_and_a_flat_schema(revision: str):
    run = await run_tool(mcpserver(name_body), "t", None, [accept("Ada")], revision=revision)
    (asked,) = run.asked
    assert asked.message == "Name?"
    assert asked.schema == {
        "type": "object",
        "properties": {"value": {"type": "string"}},
        "required": ["value"],
    }


@pytest.mark.verifies("R08")
async def test_on_the_rounds_era_the_server_sends_no_request_of_its_own():
    run = await run_tool(mcpserver(name_body), "t", None, [accept("Ada")], revision=LATEST)
    assert [str(line).split()[1] for line in run.transcript if line.direction == "<-"] == ["result", "result"]


@pytest.mark.verifies("R10", "R33", "R34")
async def test_every_result_says_its_type_and_who_answers():
    async with raw_client(mcpserver(name_body)) as client:
        first = await client.call()
        assert first["resultType"] == "input_required"
        assert list(first["inputRequests"]) == ["ask-1"]
        assert first["inputRequests"]["ask-1"]["method"] == "elicitation/create"
        assert isinstance(first["requestState"], str)
        last = await client.call(**answering(first, ask_1={"action": "decline"}))
        assert last["resultType"] == "complete"
        for result in (first, last):
            assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "test"


async def visiting_body() -> str:
    """Needs a visit before it can go on."""
    if not visited:
        raise UrlElicitationRequiredError(
            [ElicitRequestURLParams(message="Sign in", url="https://id.example/1", elicitation_id="1")]
        )
    return "visited"


visited: list[bool] = []


@pytest.mark.verifies("R07", "R09")
@pytest.mark.parametrize("host", HOSTS)
async def test_a_body_that_demands_a_visit_asks_for_it_without_the_error_of_the_push_era(host: str):
    visited.clear()
    both = {"elicitation": CAN["both"]}
    async with raw_client(HOSTS[host](visiting_body)) as client:
        first = await client.call(capabilities=both)
        (request,) = first["inputRequests"].values()
        assert request == {
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "Sign in", "url": "https://id.example/1"},
        }
        agreed = {"action": "accept"}
        second = await client.call(capabilities=both, **answering(first, visit_1=agreed))
        assert second["resultType"] == "input_required", "accept is consent, not the end of the visit"
        visited.append(True)
        third = await client.call(capabilities=both, **answering(second, visit_1=agreed))
        assert third["content"][0]["text"] == "visited"


@pytest.mark.verifies("R01", "R09")
async def test_a_demanded_visit_ends_clearly_where_it_cannot_be_shown_or_is_declined():
    visited.clear()
    async with raw_client(mcpserver(visiting_body)) as client:
        with pytest.raises(MCPError) as caught:
            await client.call(capabilities={"elicitation": {}})
        assert caught.value.data == {"requiredCapabilities": {"elicitation": {"url": {}}}}
        links = CANNOT["links only"]
        first = await client.call(capabilities=links)
        second = await client.call(capabilities=links, **answering(first, visit_1={"action": "decline"}))
        assert second["isError"] and "did not agree" in second["content"][0]["text"]


@pytest.mark.verifies("R11", "R12")
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_form_that_fishes_for_a_secret_is_refused_before_anything_is_sent(revision: str):
    async def body() -> str:
        try:
            await ask("Sign in", {"password": Text()})
        except SecretInForm as error:
            return error.instead
        return "sent"

    run = await run_tool(mcpserver(body), "t", revision=revision)
    assert "page" in run.text
    assert run.asked == []


async def test_meta_travels_with_the_question():
    async def body() -> str:
        return str(await ask("Name?", str, meta={"example/icon": "person"}))

    run = await run_tool(mcpserver(body), "t", None, [accept("Ada")], revision="2025-11-25")
    (sent,) = [line.body for line in run.transcript if line.what == "elicitation/create"]
    assert without_id(sent["_meta"]) == {"example/icon": "person"}
    async with raw_client(mcpserver(body)) as client:
        first = await client.call()
        notes = {key: without_id(note, key="id") for key, note in first["_meta"]["askback/questions"].items()}
        assert notes == {"ask-1": {"example/icon": "person"}}


async def test_an_answer_is_the_same_value_on_every_revision():
    async def body() -> str:
        answer = await ask("Name?", str)
        assert isinstance(answer, Accepted)
        return answer.value

    texts = {
        (await run_tool(mcpserver(body), "t", None, [accept("Ada")], revision=one)).text for one in REVISIONS
    }
    assert texts == {"Ada"}


@pytest.mark.parametrize(
    ("stated", "text"),
    [(["form"], "Accepted(value='Ada')"), (["url"], "cannot: form"), (None, "cannot: form")],
)
async def test_where_capabilities_are_never_known_the_author_states_what_clients_can_do(
    stated: list[str] | None, text: str
):
    # Without a handshake, as on stateless HTTP, but with a way back.
    wire = Wire(version="2025-11-25", capabilities=None, script=Script(lambda _: accept("Ada")))
    async with connect(lowlevel_of(mcpserver(careful_body, clients_can=stated)), wire):
        result = await wire.call("tools/call", {"name": "t", "arguments": {}})
    assert result["content"][0]["text"] == text
