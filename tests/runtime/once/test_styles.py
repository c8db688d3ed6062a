"""However a body asks, its round is run once: also without `once`, and also where the questions are not ours."""

import threading
from collections.abc import Callable
from typing import Annotated, Any

import anyio
import pytest
from anyio import from_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import InputRequiredResult

from askback import Askback, ask, sync
from askback.stores import Store
from tests.support.cafe.order import QUESTION, Order
from tests.support.deliveries import PATIENCE, REFUSED, End, all_alike, end_of, ends_of, text_of
from tests.support.raw import Raw, accepting, answering, raw_client

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]

FIFTY = 50


async def what_to_drink() -> Elicit[Order]:
    return Elicit("What would you like?", Order)


class Cafe:
    """Every body serves as its last deed, and nothing but the claim keeps it from serving again."""

    def __init__(self) -> None:
        self.served: list[str] = []

    async def serve(self, drink: str) -> str:
        self.served.append(drink)
        for _ in range(FIFTY):
            await anyio.lowlevel.checkpoint()
        return f"{drink} {len(self.served)}"

    async def with_ask(self) -> str:
        return await self.serve((await ask("What would you like?", Order)).or_stop("nothing").drink)

    async def with_elicit(self, ctx: Context) -> str:
        result = await ctx.elicit("What would you like?", Order)
        assert result.action == "accept"
        return await self.serve(result.data.drink)

    async def with_resolver(self, order: Annotated[Order, Resolve(what_to_drink)]) -> str:
        return await self.serve(order.drink)

    async def with_both(self, order: Annotated[Order, Resolve(what_to_drink)]) -> str:
        if self.served:
            await ask("Another one?", bool)
        return await self.serve(order.drink)

    async def with_own_result(self, ctx: Context) -> str | InputRequiredResult:
        if ctx.input_responses is None:
            return InputRequiredResult(input_requests={"order": QUESTION}, request_state="asked")
        return await self.serve("tea")

    def in_a_thread(self) -> str:
        drink = sync.ask("What would you like?", Order).or_stop("nothing").drink
        return sync.once("serve", self.serve, drink)


STYLES: dict[str, Callable[[Cafe], Callable[..., Any]]] = {
    "ask": lambda cafe: cafe.with_ask,
    "ctx.elicit": lambda cafe: cafe.with_elicit,
    "Resolve": lambda cafe: cafe.with_resolver,
    "own result": lambda cafe: cafe.with_own_result,
    "sync": lambda cafe: cafe.in_a_thread,
}


@pytest.mark.parametrize("style", STYLES)
async def test_fifty_deliveries_serve_once_whatever_the_style(style: str, store: Store):
    cafe = Cafe()
    server: MCPServer[Any] = MCPServer("cafe")
    server.add_tool(STYLES[style](cafe), name="t")
    Askback(server, store=store)
    async with raw_client(server) as client:
        first = await client.call()
        (key,) = first["inputRequests"]
        ends = await ends_of([order(client, first, key, "tea") for _ in range(FIFTY)])
        other = await end_of(order(client, first, key, "coffee"))
    assert cafe.served == ["tea"]
    assert all_alike(ends) and text_of(ends[0]) == "tea 1"
    assert other == REFUSED


async def order(client: Raw, first: End, key: str, drink: str) -> End:
    responses = {key: accepting(drink=drink)}
    return await client.call(requestState=first["requestState"], inputResponses=responses)


async def test_questions_of_a_resolver_and_of_the_body_are_rounds_of_one_conversation(store: Store):
    cafe = Cafe()
    cafe.served.append("water")
    server: MCPServer[Any] = MCPServer("cafe")
    server.add_tool(cafe.with_both, name="t")
    Askback(server, store=store)
    async with raw_client(server) as client:
        first = await client.call()
        (key,) = first["inputRequests"]
        seconds = await ends_of([order(client, first, key, "tea") for _ in range(FIFTY)])
        assert all_alike(seconds) and list(seconds[0]["inputRequests"]) == ["ask-1"]
        lasts = await ends_of([client.call(**answering(one, ask_1=accepting(value=True))) for one in seconds])
        old = await end_of(order(client, first, key, "tea"))
    assert cafe.served == ["water", "tea"]
    assert all_alike(lasts) and text_of(lasts[0]) == "tea 2"
    assert old == REFUSED


async def test_an_effect_in_a_thread_that_outlives_the_cancelled_run_is_not_run_again(store: Store):
    """A thread cannot be cut short: its effect ends, and who takes over gets what it gave."""
    begun, may_end, baked = anyio.Event(), threading.Event(), list[str]()

    def bake() -> str:
        baked.append("pizza")
        from_thread.run_sync(begun.set)
        assert may_end.wait(PATIENCE)
        return f"pizza {len(baked)}"

    def t() -> str:
        sync.ask("Hungry?", bool)
        return sync.once("bake", bake)

    server: MCPServer[Any] = MCPServer("cafe")
    server.add_tool(t)
    Askback(server, store=store)
    async with raw_client(server) as client:
        first = await client.call()

        async def deliver() -> End:
            return await client.call(**answering(first, ask_1=accepting(value=True)))

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(deliver)
                await begun.wait()
                tasks.cancel_scope.cancel()
        may_end.set()
        end = await end_of(deliver())
    assert text_of(end) == "pizza 1"
    assert baked == ["pizza"]
