"""Several visits in one call, beside forms, side by side, in bodies that run again and again."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context
from mcp_types import InputRequiredResult

from askback import Accepted, Answer, Askback, ask, once, sync, visit
from askback.errors import (
    AskedInsideOnce,
    KeysNeeded,
    KeyTaken,
    LinkRefused,
    OutsideConversation,
    QuestionRefused,
)
from askback.testing import Asked, Run, accept, decline, get_prompt, raw, read_resource, run_tool
from askback.testing.script import Reply
from tests.protocol.styles.servers import Name, asking, content_of, form
from tests.support.visit_shops import BOUND, JULY, LINK, LINKS, NOVEMBER, Host, Shop, fastmcp, mcpserver

pytestmark = pytest.mark.anyio

CONSENT = raw({"action": "accept"})


@pytest.fixture(params=[True, False], ids=["replayed", "straight"])
def always_replay(request: pytest.FixtureRequest) -> bool:
    return request.param


class Person:
    """Agrees to every visit, fills in every form, and the till settles each visit with its own message."""

    def __init__(self, asked: Askback) -> None:
        self._asked = asked
        self.messages: list[str] = []
        self._group = anyio.create_task_group()

    def __call__(self, asked: Asked) -> Reply:
        self.messages.append(asked.message)
        if asked.mode == "form":
            return accept(value="tea")
        id = asked.url.rpartition("/")[2]
        self._group.start_soon(self._asked.settle, id, asked.message)
        return CONSENT

    async def call(
        self, shop: Shop, run: Callable[..., Any] = run_tool, name: str = "t", **options: Any
    ) -> Run:
        found: list[Run] = []
        with anyio.fail_after(BOUND):
            async with self._group:
                found.append(await run(shop.server, name, answers=self, capabilities=LINKS, **options))
        return found[0]


async def call(shop: Shop, revision: str, always_replay: bool) -> tuple[Run, Person]:
    person = Person(shop.asked)
    return await person.call(shop, revision=revision, always_replay=always_replay), person


def value_of(answer: Answer[Any]) -> Any:
    assert isinstance(answer, Accepted)
    return answer.value


async def test_one_after_another_with_forms_between(revision: str, host: Host, always_replay: bool):
    async def body() -> str:
        signed = await visit("Please sign.", LINK)
        drink = await ask("Drink?", str)
        paid = await visit("Please pay.", LINK)
        dish = await ask("Dish?", str)
        return " ".join(map(value_of, (signed, drink, paid, dish)))

    run, person = await call(host(body), revision, always_replay)
    assert run.text == "Please sign. tea Please pay. tea"
    assert person.messages == ["Please sign.", "Drink?", "Please pay.", "Dish?"]


async def test_side_by_side_with_keys(revision: str, host: Host, always_replay: bool):
    async def body() -> str:
        answers = await asyncio.gather(
            visit("Please sign.", LINK, key="sign"),
            ask("Drink?", str, key="drink"),
            visit("Please pay.", LINK, key="pay"),
        )
        return " ".join(map(value_of, answers))

    run, person = await call(host(body), revision, always_replay)
    assert run.text == "Please sign. tea Please pay."
    assert sorted(person.messages) == ["Drink?", "Please pay.", "Please sign."]
    if revision == JULY:
        rounds = [line.body for line in run.transcript if line.what == "result"]
        assert list(rounds[0]["inputRequests"]) == ["sign", "drink", "pay"]


async def test_side_by_side_without_keys_is_an_authors_error(host: Host):
    faults: list[Exception] = []

    async def body() -> str:
        try:
            await asyncio.gather(visit("Please sign.", LINK), visit("Please pay.", LINK))
        except KeysNeeded as fault:
            faults.append(fault)
            raise
        return "never"

    run, _ = await call(host(body), JULY, True)
    assert run.is_error and faults


async def test_one_who_says_no_to_one_of_two_gets_the_other(revision: str, always_replay: bool):
    async def body() -> str:
        signed, paid = await asyncio.gather(
            visit("Please sign.", LINK, key="sign"), visit("Please pay.", LINK, key="pay")
        )
        return f"{signed} {paid}"

    class Choosy(Person):
        def __call__(self, asked: Asked) -> Reply:
            return super().__call__(asked) if "pay" in asked.message else decline()

    shop = mcpserver(body)
    run = await Choosy(shop.asked).call(shop, revision=revision, always_replay=always_replay)
    assert run.text == "Declined() Accepted(value='Please pay.')"


async def test_effects_around_a_visit_happen_once(revision: str, host: Host, always_replay: bool):
    done: list[str] = []

    async def body() -> str:
        await once("reserve", done.append, "reserved")
        paid = value_of(await visit("Please pay.", LINK))
        await once("ship", done.append, f"shipped after {paid}")
        return value_of(await ask("Drink?", str))

    run, _ = await call(host(body), revision, always_replay)
    assert run.text == "tea"
    assert done == ["reserved", "shipped after Please pay."]


async def test_a_body_written_with_def_waits_alike(revision: str, host: Host, always_replay: bool):
    def body() -> str:
        paid = sync.visit("Please pay.", LINK)
        went = sync.visit("Please look.", LINK, wait=False)
        drink = sync.ask("Drink?", str)
        return f"{value_of(paid)} {len(value_of(went))} {value_of(drink)}"

    run, person = await call(host(body), revision, always_replay)
    assert run.text == "Please pay. 43 tea"
    assert person.messages == ["Please pay.", "Please look.", "Drink?"]


@pytest.mark.parametrize("make", [mcpserver, fastmcp])
async def test_prompts_and_resources_send_people_too(revision: str, make: Host):
    async def body() -> str:
        return value_of(await visit("Please pay.", LINK))

    shop = make(body)
    shop.server.prompt("menu")(body)
    shop.server.resource("menu://today")(body)
    prompt = await Person(shop.asked).call(shop, get_prompt, "menu", revision=revision)
    resource = await Person(shop.asked).call(shop, read_resource, "menu://today", revision=revision)
    assert (prompt.text, resource.text) == ("Please pay.", "Please pay.")


@pytest.mark.verifies("R80")
async def test_a_visit_in_a_body_that_returns_questions_of_its_own_is_made_once(revision: str):
    """On 2025-11-25 such a body is called again within the call."""

    async def body(ctx: Context[Any, Any]) -> str | InputRequiredResult:
        paid = value_of(await visit("Please pay.", LINK))
        if ctx.input_responses is None:
            return asking(seat=form("Seat?", Name))
        return f"{paid} {content_of(ctx, 'seat')}"

    class Named(Person):
        def __call__(self, asked: Asked) -> Reply:
            return super().__call__(asked) if asked.mode == "url" else accept(name="Ada")

    shop = mcpserver(body)
    run = await Named(shop.asked).call(shop, revision=revision)
    assert run.text == "Please pay. {'name': 'Ada'}"
    told = [line for line in run.transcript if line.what == "notifications/elicitation/complete"]
    assert len(told) == (revision == NOVEMBER)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: visit("Please pay.", "https://pay.example/checkout"), LinkRefused),
        (lambda: visit("Please pay.", "http://pay.example/{id}"), LinkRefused),
        (lambda: visit("", LINK), QuestionRefused),
        (lambda: visit("Please pay.", LINK, key="link-1"), QuestionRefused),
        (lambda: visit("Please pay.", LINK, key=""), QuestionRefused),
    ],
    ids=["no place for the id", "plain http", "no message", "a key that is a place", "an empty key"],
)
async def test_what_could_never_be_shown_is_refused_before_anybody_is_asked(
    revision: str, wrong: Callable[[], Any], error: type[Exception]
):
    caught: list[Exception] = []

    async def body() -> str:
        try:
            await wrong()
        except error as refused:
            caught.append(refused)
        return "refused"

    run, person = await call(mcpserver(body), revision, True)
    assert (run.text, person.messages) == ("refused", [])
    assert "Instead: " in str(caught[0])


async def test_one_key_for_two_visits_is_an_authors_error():
    async def body() -> str:
        await visit("Please pay.", LINK, key="pay")
        with pytest.raises(KeyTaken):
            await visit("Please pay again.", LINK, key="pay")
        return "told"

    run, _ = await call(mcpserver(body), JULY, True)
    assert run.text == "told"


async def test_nobody_is_sent_anywhere_from_inside_an_effect():
    async def body() -> str:
        async def effect() -> str:
            with pytest.raises(AskedInsideOnce):
                await visit("Please pay.", LINK)
            return "told"

        return await once("effect", effect)

    run, person = await call(mcpserver(body), NOVEMBER, True)
    assert (run.text, person.messages) == ("told", [])


async def test_outside_a_call_there_is_nobody_to_send():
    with pytest.raises(OutsideConversation, match=r"visit\(\.\.\.\)"):
        await visit("Please pay.", LINK)
    with pytest.raises(OutsideConversation):
        await anyio.to_thread.run_sync(lambda: sync.visit("Please pay.", LINK))
