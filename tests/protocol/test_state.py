"""The state that travels with the client between rounds is hostile when it comes back."""

import base64
import gc
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from mcp.server import MCPServer
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import InvalidRequestState, RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult

from askback import Askback, ask, once
from askback.errors import AuthorError, own_error
from askback.model.journal import ClosedQuestion, Effect, Journal
from askback.model.journal_codec import TAG, decode, encode, is_ours
from askback.runtime.conversation import Conversation
from tests.support.docs_pages import ROOT
from tests.support.raw import Raw, accepting, answering, raw_client
from tests.support.tool_servers import HOSTS, mcpserver

pytestmark = pytest.mark.anyio

Context = ServerRequestContext[Any, Any]

KEY = b"k" * 32
REFUSED = "Invalid or expired requestState"


async def name_body() -> str:
    """Asks for a name."""
    return str(await ask("Name?", str))


async def refused(client: Raw, **call: Any) -> bool:
    with pytest.raises(MCPError) as caught:
        await client.call(**call)
    return caught.value.message == REFUSED and caught.value.code == -32602


@pytest.mark.verifies("R35", "T04")
@pytest.mark.parametrize("host", HOSTS)
async def test_every_byte_of_the_state_flipped_is_refused(host: str):
    async with raw_client(HOSTS[host](name_body)) as client:
        first = await client.call()
        state: str = first["requestState"]
        for at, character in enumerate(state):
            other = "A" if character != "A" else "B"
            fields = answering(first, ask_1=accepting(value="Ada"))
            fields["requestState"] = state[:at] + other + state[at + 1 :]
            assert await refused(client, **fields), f"byte {at} flipped, and still taken"
        done = await client.call(**answering(first, ask_1=accepting(value="Ada")))
        assert done["content"][0]["text"] == "Accepted(value='Ada')"


@pytest.mark.verifies("R35")
async def test_the_state_cannot_be_read_by_the_client():
    async def body() -> str:
        secret = await once("plan", lambda: "a very recognisable plan")
        await ask("Name?", str)
        return secret

    async with raw_client(mcpserver(body)) as client:
        state: str = (await client.call())["requestState"]
    padded = state.removeprefix("v1.") + "==="
    assert b"recognisable" not in base64.urlsafe_b64decode(padded)
    assert "recognisable" not in state and not is_ours(state)


@pytest.mark.verifies("R38", "T04")
async def test_state_of_another_tool_or_other_arguments_is_refused():
    server = MCPServer("two")
    Askback(server)

    @server.tool()
    async def delete(path: str) -> str:
        return f"{path} {await ask('Sure?', bool)}"

    @server.tool()
    async def create(path: str) -> str:
        return f"{path} {await ask('Sure?', bool)}"

    async with raw_client(server) as client:
        first = await client.call("delete", {"path": "a"})
        fields = answering(first, ask_1=accepting(value=True))
        assert await refused(client, tool="delete", arguments={"path": "b"}, **fields)
        assert await refused(client, tool="create", arguments={"path": "a"}, **fields)
        done = await client.call("delete", {"path": "a"}, **fields)
        assert done["content"][0]["text"] == "a Accepted(value=True)"


@pytest.mark.verifies("R38")
async def test_state_of_another_method_is_refused():
    server = MCPServer("two")
    Askback(server)

    @server.tool()
    async def letter() -> str:
        return str(await ask("To whom?", str))

    @server.prompt(name="letter")
    async def letter_prompt() -> str:
        return str(await ask("To whom?", str))

    async with raw_client(server) as client:
        first = await client.call("letter")
        fields = answering(first, ask_1=accepting(value="Ada"))
        with pytest.raises(MCPError, match=REFUSED):
            await client.send("prompts/get", name="letter", arguments={}, **fields)


@pytest.mark.verifies("R37", "T04")
async def test_state_that_has_expired_is_refused(monkeypatch: pytest.MonkeyPatch):
    server = mcpserver(name_body, think_time=60)
    async with raw_client(server) as client:
        first = await client.call()
        fields = answering(first, ask_1=accepting(value="Ada"))
        now = time.time()
        monkeypatch.setattr("mcp.server.request_state.time.time", lambda: now + 61)
        assert await refused(client, **fields)
        monkeypatch.setattr("mcp.server.request_state.time.time", lambda: now + 59)
        assert (await client.call(**fields))["resultType"] == "complete"


@pytest.mark.verifies("R36", "T04")
async def test_state_of_another_caller_is_refused():
    caller = ["ada"]

    def who(_ctx: Context) -> str:
        return caller[0]

    async with raw_client(mcpserver(name_body, caller=who)) as client:
        first = await client.call()
        fields = answering(first, ask_1=accepting(value="Ada"))
        caller[0] = "bob"
        assert await refused(client, **fields)
        caller[0] = "ada"
        assert (await client.call(**fields))["resultType"] == "complete"


async def test_where_there_is_no_caller_whoever_has_the_state_brings_it_back_once():
    """As the README says. `test_state_of_another_caller_is_refused` shows what a caller changes."""
    assert "there is no caller to seal to" in " ".join((ROOT / "README.md").read_text().split())
    ran: list[str] = []

    async def body() -> str:
        name = (await ask("Name?", str)).or_stop("Nobody.")
        await once("greet", ran.append, name)
        return name

    server = mcpserver(body)
    async with raw_client(server) as client:
        first = await client.call()
    answers = answering(first, ask_1=accepting(value="Ada"))
    async with raw_client(server) as another, raw_client(server) as third:
        assert (await another.call(**answers))["content"][0]["text"] == "Ada"
        assert (await third.call(**answers))["content"][0]["text"] == "Ada" and ran == ["Ada"]
        with pytest.raises(MCPError):
            await third.call(**answering(first, ask_1=accepting(value="Bob")))
        assert await refused(third, name="other", **answers)


@pytest.mark.verifies("R35")
async def test_another_servers_state_is_refused_even_under_the_same_keys():
    one: MCPServer[Any] = MCPServer("one")
    two: MCPServer[Any] = MCPServer("two")
    for server in (one, two):
        server.add_tool(name_body, name="t")
        Askback(server, keys=[KEY])
    async with raw_client(one) as client_one, raw_client(two) as client_two:
        fields = answering(await client_one.call(), ask_1=accepting(value="Ada"))
        assert await refused(client_two, **fields)


@pytest.mark.parametrize("host", HOSTS)
async def test_shared_keys_let_any_worker_serve_any_round(host: str):
    one, two = (HOSTS[host](name_body, keys=[KEY]) for _ in range(2))
    async with raw_client(one) as client_one, raw_client(two) as client_two:
        fields = answering(await client_one.call(), ask_1=accepting(value="Ada"))
        assert (await client_two.call(**fields))["content"][0]["text"] == "Accepted(value='Ada')"


async def test_keys_rotate_without_losing_a_person_who_is_thinking():
    old, new = b"o" * 32, b"n" * 32
    async with (
        raw_client(mcpserver(name_body, keys=[old])) as before,
        raw_client(mcpserver(name_body, keys=[new, old])) as after,
        raw_client(mcpserver(name_body, keys=[new])) as later,
    ):
        fields = answering(await before.call(), ask_1=accepting(value="Ada"))
        assert (await after.call(**fields))["resultType"] == "complete"
        assert await refused(later, **fields)


def boundaries(server: MCPServer[Any] | Server[Any]) -> list[RequestStateBoundary]:
    return [item for item in server.middleware if isinstance(item, RequestStateBoundary)]


def security_of(server: MCPServer[Any]) -> RequestStateSecurity:
    (boundary,) = boundaries(server)
    return boundary._security  # pyright: ignore[reportPrivateUsage] # the SDK has no other way to look


def test_a_low_level_server_without_a_boundary_gets_one():
    server: Server[Any] = Server("bare")
    assert not boundaries(server)
    Askback(server)
    (boundary,) = boundaries(server)
    at = server.middleware.index(boundary)
    assert type(server.middleware[at + 1]).__module__ == "askback.server.middleware"


def test_the_boundary_that_is_there_keeps_the_authors_keys_unless_others_are_given():
    chosen = RequestStateSecurity(keys=[KEY], ttl=120)
    kept: MCPServer[Any] = MCPServer("kept", request_state_security=chosen)
    Askback(kept)
    security = security_of(kept)
    assert chosen.codec.unseal(security.codec.seal(b"state")) == b"state"
    assert security.ttl == 120
    replaced: MCPServer[Any] = MCPServer("replaced", request_state_security=chosen)
    Askback(replaced, keys=[b"z" * 32], think_time=30)
    security = security_of(replaced)
    with pytest.raises(InvalidRequestState):
        chosen.codec.unseal(security.codec.seal(b"state"))
    assert security.ttl == 30


@pytest.mark.parametrize(
    "chosen",
    [None, RequestStateSecurity(keys=[KEY]), RequestStateSecurity.ephemeral()],
    ids=["nothing", "keys", "ephemeral"],
)
def test_a_person_may_think_for_an_hour_unless_somebody_chose(chosen: RequestStateSecurity | None):
    server: MCPServer[Any] = MCPServer("default", request_state_security=chosen)
    Askback(server)
    assert security_of(server).ttl == 3600


@pytest.mark.parametrize("ttl", [600, 600.0])
def test_a_time_that_the_author_chose_stays_also_where_it_is_the_sdks_own(ttl: float):
    chosen = RequestStateSecurity(keys=[KEY], ttl=ttl)
    server: MCPServer[Any] = MCPServer("chosen", request_state_security=chosen)
    Askback(server)
    assert security_of(server).ttl == 600


@pytest.mark.parametrize("host", [MCPServer, Server])
async def test_a_boundary_that_is_added_after_askback_is_noticed_when_the_server_starts(
    host: Callable[[str], MCPServer[Any] | Server[Any]],
):
    """It would be inside of ours, and the author's keys would seal nothing that a client carries."""
    server = host("late")
    Askback(server)
    late = RequestStateBoundary(RequestStateSecurity(keys=[KEY]), default_audience="late")
    server.middleware.append(late)
    with pytest.raises(BaseExceptionGroup) as stopped:
        async with raw_client(server) as client:
            await client.call()
    told = own_error(stopped.value)
    assert isinstance(told, AuthorError)
    assert "Add it before Askback(server)" in str(told)


@pytest.mark.parametrize("state", ["awaiting-\ud800-confirm", '"\ud800"', "['\udfff']"])
async def test_a_state_written_by_hand_may_hold_half_a_surrogate_pair(state: str):
    seen: list[str | None] = []

    async def call(_ctx: Context, params: CallToolRequestParams) -> InputRequiredResult | CallToolResult:
        seen.append(params.request_state)
        if params.request_state is None:
            return InputRequiredResult(request_state=state)
        return CallToolResult(content=[])

    server: Server[Any] = Server("own", on_call_tool=call)
    Askback(server)
    async with raw_client(server) as client:
        first = await client.call()
        await client.call(requestState=first["requestState"])
    assert seen == [None, state]


async def test_state_that_is_not_ours_passes_through_untouched():
    """Sealed with the same keys before Askback was installed, and brought back after."""
    seen: list[tuple[Any, Any]] = []

    async def call(_ctx: Context, params: CallToolRequestParams) -> InputRequiredResult:
        seen.append((params.request_state, params.input_responses))
        return InputRequiredResult(request_state=f"mine-{len(seen)}")

    before: Server[Any] = Server("own", on_call_tool=call)
    before.middleware.append(
        RequestStateBoundary(RequestStateSecurity(keys=[KEY]), default_audience=before.name)
    )
    async with raw_client(before) as client:
        first = await client.call()
    server: Server[Any] = Server("own", on_call_tool=call)
    Askback(server, keys=[KEY])
    async with raw_client(server) as client:
        second = await client.call(
            requestState=first["requestState"], inputResponses={"x": {"action": "decline"}}
        )
    assert second["resultType"] == "input_required"
    assert seen[0] == (None, None)
    assert seen[1][0] == "mine-1"
    assert set(seen[1][1]) == {"x"}


@pytest.mark.verifies("R42")
async def test_replies_that_come_without_any_state_are_not_taken():
    seen: list[Any] = []

    async def call(_ctx: Context, params: CallToolRequestParams) -> InputRequiredResult:
        seen.append(params.input_responses)
        return InputRequiredResult(request_state="mine")

    server: Server[Any] = Server("own", on_call_tool=call)
    Askback(server)
    async with raw_client(server) as client:
        await client.call(inputResponses={"x": {"action": "accept", "content": {"sure": True}}})
    assert seen == [None]


@pytest.mark.verifies("R40")
async def test_a_conversation_that_never_comes_back_leaves_nothing_behind():
    made: list[weakref.ref[Conversation]] = []
    original = Conversation.__init__

    def noted(self: Conversation, context: Any, *, takes_returns: bool) -> None:
        made.append(weakref.ref(self))
        original(self, context, takes_returns=takes_returns)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Conversation, "__init__", noted)
        async with raw_client(mcpserver(name_body)) as client:
            for _ in range(20):
                assert (await client.call())["resultType"] == "input_required"
    gc.collect()
    assert len(made) == 20
    assert not [ref for ref in made if ref() is not None]


def test_a_journal_of_another_shape_is_not_guessed_at():
    with pytest.raises(ValueError, match="another shape"):
        decode(TAG + "{'c': 1}")


@pytest.mark.verifies("R44")
async def test_a_round_is_never_marked_as_cacheable():
    server: MCPServer[Any] = MCPServer("cached", cache_hints={"resources/read": CacheHint(ttl_ms=60_000)})
    Askback(server)

    @server.resource("desk://only")
    async def desk() -> str:
        return str(await ask("Which drawer?", int))

    async with raw_client(server) as client:
        first = await client.send("resources/read", uri="desk://only")
        assert first["resultType"] == "input_required"
        assert "ttlMs" not in first and "cacheScope" not in first
        last = await client.send(
            "resources/read", uri="desk://only", **answering(first, ask_1=accepting(value=3))
        )
        assert last["ttlMs"] == 60_000


@pytest.mark.parametrize(
    "text", ["it's", '"quoted"', "back\\slash'", "\\u0027", "'\"'\"", "日本 'x'", "{'a': \"b\"}"]
)
def test_any_text_comes_back_from_the_journal_as_it_was(text: str):
    journal = Journal("id", 1)
    journal.answered["ask-1"] = ClosedQuestion("ask-1", "d", text, "accept", {text: text, "list": [text]})
    journal.effects[text] = Effect(text, result={"deep": [text]})
    again = decode(encode(journal))
    assert again.answered["ask-1"].gist == text
    assert again.answered["ask-1"].content == {text: text, "list": [text]}
    assert again.effects[text].result == {"deep": [text]}
