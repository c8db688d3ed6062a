"""What a body may put into a round of its own: links, sampling and roots, where the client has them."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import anyio
import pytest
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    InputRequest,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel

from askback import ask
from askback.testing import accept, decline, raw, run_tool
from tests.protocol.styles.cells import FORMS_AND_LINKS
from tests.protocol.styles.conftest import LATEST, WAYS, Way
from tests.protocol.styles.people import EVERYTHING, SAMPLED, run_well_equipped
from tests.protocol.styles.people import ROOTS as HOME
from tests.protocol.styles.servers import End, asking, content_of, form, link
from tests.support.corpus import corpus
from tests.support.deliveries import end_of, without_seal
from tests.support.ids import sent_words
from tests.support.raw import accepting, answering, raw_client

pytestmark = pytest.mark.anyio

JUNE, NOVEMBER = "2025-06-18", "2025-11-25"

POEM = CreateMessageRequest(
    params=CreateMessageRequestParams(
        messages=[SamplingMessage(role="user", content=TextContent(text="Write a haiku."))], max_tokens=10
    )
)
ROOTS = ListRootsRequest()


@pytest.fixture(params=[way for way in WAYS if way.revision != LATEST], ids=str)
def pushing(request: pytest.FixtureRequest) -> Way:
    """The ways on which a body's questions are asked for it."""
    return request.param


async def everything(ctx: Context) -> End:
    """Three kinds of requests in one round, and a question of ours afterwards."""
    replies = ctx.input_responses
    if replies is None:
        return asking(poem=POEM, roots=ROOTS, seat=form("Seat?"), state="asked")
    poem, roots = replies["poem"], replies["roots"]
    assert isinstance(poem, CreateMessageResult) and isinstance(poem.content, TextContent)
    assert isinstance(roots, ListRootsResult)
    sure = await ask("Sure?", bool)
    return f"{poem.content.text} {roots.roots[0].name} {content_of(ctx, 'seat')['row']} {sure}"


async def test_sampling_and_roots_are_answered_beside_the_questions(host: Callable[..., Any], way: Way):
    with anyio.fail_after(20):
        answers = [accept(row=2, side="aisle"), accept(True)]
        result = await run_well_equipped(host(everything), answers, way=way)
    assert result.text == "a haiku home 2 Accepted(value=True)"
    sent = [line.what for line in result.transcript if line.what in {"sampling/createMessage", "roots/list"}]
    assert len(sent) == (0 if way.revision == LATEST else 2), "asked once each, replayed or not"


def backwards(value: Any) -> Any:
    """The same, with the members of every object in another order."""
    match value:
        case dict():
            members = cast("dict[str, Any]", value)
            return {name: backwards(member) for name, member in reversed(members.items())}
        case list():
            return [backwards(item) for item in cast("list[Any]", value)]
        case _:
            return value


async def test_the_order_in_which_their_replies_are_written_makes_no_other_round(
    sdk_host: Callable[..., Any],
):
    replies = {"poem": SAMPLED, "roots": HOME, "seat": accepting(row=2, side="aisle")}
    with anyio.fail_after(20):
        async with raw_client(sdk_host(everything)) as client:
            first = await client.call(capabilities=EVERYTHING)
            one, copy = [
                await client.call(capabilities=EVERYTHING, **answering(first, **sent))
                for sent in (replies, backwards(replies))
            ]
            other = await end_of(
                client.call(capabilities=EVERYTHING, **answering(first, **replies | {"roots": {"roots": []}}))
            )
    assert without_seal(one) == without_seal(copy)
    assert other["code"] == INVALID_PARAMS


LACKING: dict[str, tuple[InputRequest, Mapping[str, Any]]] = {
    "sampling": (POEM, {"elicitation": {}, "roots": {}}),
    "roots": (ROOTS, {"elicitation": {}, "sampling": {}}),
}


@corpus("lacking", LACKING)
async def test_what_the_client_did_not_declare_is_not_sent(
    host: Callable[..., Any], pushing: Way, lacking: str
):
    request, capabilities = LACKING[lacking]

    async def body(ctx: Context) -> End:
        return asking(it=request) if ctx.input_responses is None else "never"

    with anyio.fail_after(20):
        result = await run_well_equipped(host(body), way=pushing, capabilities=capabilities)
    assert result.is_error
    assert result.text.startswith(
        f"This call needs {lacking} from the client. This client did not declare {lacking}."
    )


@pytest.mark.verifies("R02")
@corpus("lacking", [*LACKING, "form", "url"])
async def test_nor_on_the_rounds_era(sdk_host: Callable[..., Any], lacking: str):
    requests: dict[str, tuple[InputRequest, Mapping[str, Any]]] = {
        "form": (form("Seat?"), {"elicitation": {"url": {}}}),
        "url": (link("Pay.", "https://till.example/7"), {"elicitation": {"form": {}}}),
    }
    request, capabilities = {**LACKING, **requests}[lacking]

    async def body(ctx: Context) -> End:
        return asking(it=request) if ctx.input_responses is None else "never"

    with anyio.fail_after(20), pytest.raises(MCPError) as refused:
        await run_well_equipped(
            sdk_host(body), lambda _: raw({"action": "cancel"}), way=Way(LATEST), capabilities=capabilities
        )
    assert refused.value.code == -32021


async def test_a_client_that_declares_sampling_and_fails_is_told_apart(
    pushing: Way, sdk_host: Callable[..., Any]
):
    async def body(ctx: Context) -> End:
        return asking(it=POEM) if ctx.input_responses is None else "never"

    result = await run_tool(
        sdk_host(body),
        "t",
        revision=pushing.revision,
        always_replay=pushing.always_replay,
        capabilities={"elicitation": {}, "sampling": {}},
    )
    assert result.is_error
    assert "This call needs sampling from the client. The client answered with error -32601." in result.text


async def visiting(ctx: Context) -> End:
    if ctx.input_responses is None:
        return asking(till=link("Please pay.", "https://till.example/7"), state="asked")
    return "accept" if content_of(ctx, "till") is None else str(content_of(ctx, "till"))


@pytest.mark.verifies("R07")
@corpus("always_replay", [True, False])
async def test_a_link_without_an_id_gets_one_where_the_revision_has_ids(
    host: Callable[..., Any], always_replay: bool
):
    result = await run_tool(
        host(visiting),
        "t",
        None,
        [raw({"action": "accept"})],
        revision=NOVEMBER,
        always_replay=always_replay,
        capabilities=FORMS_AND_LINKS,
    )
    assert result.text == "accept"
    (sent,) = (line.body for line in result.transcript if line.what == "elicitation/create")
    assert len(sent.pop("elicitationId")) > 16
    assert sent_words(sent) == {"mode": "url", "message": "Please pay.", "url": "https://till.example/7"}


async def test_on_the_rounds_era_it_goes_out_as_it_is(host: Callable[..., Any]):
    answers = [raw({"action": "decline"})]
    result = await run_tool(host(visiting), "t", None, answers, capabilities=FORMS_AND_LINKS)
    assert (result.text, [asked.mode for asked in result.asked]) == ("decline", ["url"])


async def test_a_client_of_june_2025_that_declares_links_gets_them(host: Callable[..., Any]):
    answers = [raw({"action": "accept"})]
    result = await run_tool(host(visiting), "t", None, answers, revision=JUNE, capabilities=FORMS_AND_LINKS)
    assert (result.text, [asked.mode for asked in result.asked]) == ("accept", ["url"])


async def test_one_that_declares_none_gets_none(host: Callable[..., Any]):
    result = await run_tool(host(visiting), "t", revision=JUNE)
    assert result.is_error and not result.asked
    assert result.text.startswith("This client speaks MCP 2025-06-18, which knows forms and no links.")


class SignIn(BaseModel):
    password: str


async def fishing(ctx: Context) -> End:
    return asking(it=form("Sign in", SignIn)) if ctx.input_responses is None else "never"


FISHY = "Field 'password': its name asks for a secret"


@pytest.mark.verifies("R11")
async def test_a_form_that_fishes_for_secrets_is_refused(host: Callable[..., Any], pushing: Way):
    revision, always_replay = pushing
    result = await run_tool(host(fishing), "t", revision=revision, always_replay=always_replay)
    assert result.is_error and not result.asked
    assert result.text.startswith(FISHY)


@pytest.mark.verifies("R11")
async def test_on_the_rounds_era_too(sdk_host: Callable[..., Any]):
    result = await run_tool(sdk_host(fishing), "t", None, lambda _: decline())
    assert result.text.startswith(FISHY)
