"""FastMCP's own middleware, and an author's, beside Askback: nobody is asked twice, and errors arrive."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.middleware.logging import LoggingMiddleware, StructuredLoggingMiddleware
from fastmcp.server.middleware.rate_limiting import (
    RateLimitingMiddleware,
    SlidingWindowRateLimitingMiddleware,
)
from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware
from fastmcp.server.middleware.timing import DetailedTimingMiddleware, TimingMiddleware
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, ElicitResult, InputRequiredResult

from askback import Askback, ask, once
from askback.testing import Asked, accept, raw, run_tool, silence
from askback.testing.script import Reply
from tests.server.hosts.fastmcp.cafe import (
    EVERYWHERE,
    Order,
    ask_for_prompt,
    call_tool,
    question,
    read,
    serve,
    tea,
)
from tests.support.corpus import corpus

pytestmark = pytest.mark.anyio


class Observer(Middleware):
    """An author's own: notes what goes wrong inside, and lets it go on."""

    def __init__(self) -> None:
        self.calls = 0
        self.seen: list[Exception] = []

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        self.calls += context.method == "tools/call"
        try:
            return await call_next(context)
        except Exception as error:
            self.seen.append(error)
            raise


class Rewording(Middleware):
    """An author's own: puts every error into words of the house."""

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        try:
            return await call_next(context)
        except Exception as error:
            raise ToolError("The house regrets.") from error


BESIDE: dict[str, Callable[[], Middleware]] = {
    "error handling": ErrorHandlingMiddleware,
    "error handling, kept": lambda: ErrorHandlingMiddleware(transform_errors=False),
    "retry": lambda: RetryMiddleware(base_delay=0),
    "timing": TimingMiddleware,
    "detailed timing": DetailedTimingMiddleware,
    "logging": lambda: LoggingMiddleware(include_payloads=True),
    "structured logging": StructuredLoggingMiddleware,
    "rate limiting": lambda: RateLimitingMiddleware(max_requests_per_second=1000),
    "sliding window": lambda: SlidingWindowRateLimitingMiddleware(max_requests=1000),
    "caching": ResponseCachingMiddleware,
    "limiting": ResponseLimitingMiddleware,
    "observer": Observer,
    "rewording": Rewording,
}


def cafe(*before: Middleware, after: tuple[Middleware, ...] = ()) -> FastMCP[Any]:
    """A server with middleware that was there before Askback, and some that came later."""
    mcp: FastMCP[Any] = FastMCP("cafe", middleware=before)
    Askback(mcp)
    for middleware in after:
        mcp.add_middleware(middleware)
    return mcp


every_middleware = pytest.mark.parametrize("name", BESIDE)
before_and_after = pytest.mark.parametrize("place", ["before", "after"])


@every_middleware
@before_and_after
async def test_each_question_is_put_once_and_the_effect_happens_once(
    name: str, place: str, askback_revision: str
):
    middleware, brewed = BESIDE[name](), list[str]()
    mcp = cafe(middleware) if place == "before" else cafe(after=(middleware,))

    def brew(drink: str) -> int:
        brewed.append(drink)
        return len(brewed)

    async def order(ctx: Context) -> str:
        first = (await ask("First?", Order)).or_stop("Nothing, then.")
        number = await once("brew", brew, first.drink)
        second = await ctx.elicit("Second?", Order)
        third = (await ask("Third?", Order, key="third")).or_stop("Nothing, then.")
        return f"{number} {second.action} {third.drink}"

    serve(mcp, order)
    for number, call in enumerate(EVERYWHERE.values(), 1):
        run = await call(mcp, answers=tea, revision=askback_revision)
        assert [asked.message for asked in run.asked] == ["First?", "Second?", "Third?"]
        assert run.text == f"{number} accept tea"
    assert len(brewed) == len(EVERYWHERE)


@every_middleware
async def test_a_returned_round_passes_too(name: str, askback_revision: str):
    mcp = cafe(BESIDE[name]())

    @mcp.tool
    async def order(ctx: Context) -> str | InputRequiredResult:
        if ctx.input_responses is None:
            return InputRequiredResult(input_requests={"order": question("What?")}, request_state="asked")
        reply = ctx.input_responses["order"]
        assert isinstance(reply, ElicitResult)
        return f"{ctx.request_state}: {(reply.content or {})['drink']}"

    run = await run_tool(mcp, "order", None, tea, revision=askback_revision)
    assert (run.text, len(run.asked)) == ("asked: tea", 1)


@every_middleware
async def test_the_authors_mistake_is_said_in_our_words(name: str, askback_revision: str):
    mcp = cafe(BESIDE[name]())

    async def order() -> str:
        return str(await ask("", Order))

    serve(mcp, order)
    assert "say what is asked" in (await call_tool(mcp, revision=askback_revision)).text
    for call in (ask_for_prompt, read):
        with pytest.raises(MCPError, match="say what is asked"):
            await call(mcp, revision=askback_revision)


@every_middleware
@pytest.mark.verifies("R03")
async def test_nobody_to_ask_is_said_as_such(name: str):
    mcp = cafe(BESIDE[name]())

    async def order() -> str:
        return str(await ask("What?", Order))

    serve(mcp, order)
    for call in EVERYWHERE.values():
        with pytest.raises(MCPError, match="catch CannotAsk") as raised:
            await call(mcp, capabilities={})
        assert raised.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY


async def test_all_of_them_at_once(askback_revision: str):
    mcp = cafe(*(make() for make in BESIDE.values()), after=tuple(make() for make in BESIDE.values()))

    async def order() -> str:
        first = (await ask("First?", Order)).or_stop("Nothing, then.")
        return f"{first.drink} {(await ask('Second?', Order)).or_stop('Nothing, then.').drink}"

    serve(mcp, order)
    for call in EVERYWHERE.values():
        run = await call(mcp, answers=tea, revision=askback_revision)
        assert (run.text, len(run.asked)) == ("tea tea", 2)


async def asks_twice() -> str:
    return f"{await ask('First?', Order)} {await ask('Second?', Order)}"


async def test_an_except_exception_never_sees_a_suspension(askback_revision: str):
    observer = Observer()
    mcp = cafe(observer)
    mcp.tool(asks_twice)
    await run_tool(mcp, "asks_twice", None, tea, revision=askback_revision)
    assert observer.seen == []
    assert observer.calls == 3


class Swallowing(Middleware):
    """An author's mistake: takes everything, whatever it is, for a result of its own."""

    async def on_call_tool(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, ToolResult]
    ) -> ToolResult:
        try:
            return await call_next(context)
        except BaseException:
            return ToolResult("swallowed")


async def test_one_who_swallows_it_is_answered_for_all_the_same(askback_revision: str):
    mcp = cafe(Swallowing())
    mcp.tool(asks_twice)
    run = await run_tool(mcp, "asks_twice", None, tea, revision=askback_revision)
    assert run.text.count("tea") == 2


class Kitchen:
    """Fails twice after the question, as an upstream would, and then works."""

    def __init__(self, key: str | None) -> None:
        self._key, self._tries, self.brewed = key, 0, 0

    async def order(self) -> str:
        drink = (await ask("What?", Order, key=self._key)).or_stop("Nothing, then.").drink
        await once("brew", self._brew)
        self._tries += 1
        if self._tries < 3:
            raise ConnectionError("the kitchen does not answer")
        return drink

    def _brew(self) -> None:
        self.brewed += 1


@corpus("key", [None, "drink"])
async def test_a_retry_after_an_answer_does_not_ask_again(key: str | None, askback_revision: str):
    kitchen, mcp = Kitchen(key), cafe(RetryMiddleware(base_delay=0))
    mcp.tool(kitchen.order, name="order")
    run = await run_tool(mcp, "order", None, tea, revision=askback_revision, always_replay=False)
    assert (run.text, len(run.asked), kitchen.brewed) == ("tea", 1, 1)


async def test_nor_does_one_in_a_mounted_server(askback_revision: str):
    kitchen = Kitchen(None)
    parent, child = cafe(), FastMCP[Any]("kitchen", middleware=[RetryMiddleware(base_delay=0)])
    child.tool(kitchen.order, name="order")
    parent.mount(child)
    run = await run_tool(parent, "order", None, tea, revision=askback_revision, always_replay=False)
    assert (run.text, len(run.asked), kitchen.brewed) == ("tea", 1, 1)


async def test_what_the_person_did_is_no_reason_to_retry(askback_revision: str):
    mcp = cafe(RetryMiddleware(base_delay=0, retry_exceptions=(ConnectionError, TimeoutError)))

    @mcp.tool
    async def hurried() -> str:
        return str(await ask("Quick?", Order, timeout=0.01))

    @mcp.tool
    async def wrong() -> str:
        return str(await ask("What?", Order))

    late = await run_tool(mcp, "hurried", None, [silence()], revision=askback_revision)
    assert late.is_error and len(late.asked) == 1

    def wine(_asked: Asked) -> Reply:
        return raw({"action": "accept", "content": {"drink": "wine"}})

    unfit = await run_tool(mcp, "wrong", None, wine, revision=askback_revision)
    assert unfit.is_error and len(unfit.asked) == 4


async def test_on_rounds_every_round_counts_as_a_request_of_its_own():
    limits = SlidingWindowRateLimitingMiddleware(max_requests=2)
    mcp = cafe(limits)
    mcp.tool(asks_twice)
    with pytest.raises(MCPError, match="Rate limit exceeded"):
        await run_tool(mcp, "asks_twice", None, tea)


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_on_push_a_call_counts_once_however_much_it_asks(revision: str):
    mcp = cafe(SlidingWindowRateLimitingMiddleware(max_requests=2))
    mcp.tool(asks_twice)
    # The other one is the handshake.
    run = await run_tool(mcp, "asks_twice", None, tea, revision=revision, always_replay=False)
    assert len(run.asked) == 2


async def test_a_long_result_is_cut_and_a_question_is_not(askback_revision: str):
    mcp = cafe(ResponseLimitingMiddleware(max_size=200, truncation_suffix="[cut]"))

    @mcp.tool
    async def menu() -> str:
        chosen = (await ask("What? " + "Please. " * 100, Order)).or_stop("Nothing, then.")
        return chosen.drink * 1000

    run = await run_tool(mcp, "menu", None, tea, revision=askback_revision)
    assert run.text.endswith("[cut]") and len(run.asked[0].message) > 500


async def test_a_middleware_may_ask_before_the_tool_runs(askback_revision: str):
    class Doorman(Middleware):
        """An author's own: asks for every tool, and lets nobody in on a no."""

        async def on_call_tool(
            self, context: MiddlewareContext[Any], call_next: CallNext[Any, ToolResult]
        ) -> ToolResult:
            allowed = await ask(f"May {context.message.name} run?", bool, key="doorman")
            if not allowed.or_stop("Not today."):
                return ToolResult("Closed.")
            return await call_next(context)

    mcp = cafe(after=(Doorman(),))
    mcp.tool(asks_twice)

    def polite(asked: Asked) -> Reply:
        return accept(True) if "May" in asked.message else tea(asked)

    run = await run_tool(mcp, "asks_twice", None, polite, revision=askback_revision)
    assert [asked.message for asked in run.asked] == ["May asks_twice run?", "First?", "Second?"]
    closed = await run_tool(mcp, "asks_twice", None, [accept(False)], revision=askback_revision)
    assert closed.text == "Closed."


async def test_a_call_that_a_body_makes_by_itself_asks_in_the_same_conversation(askback_revision: str):
    observer = Observer()
    mcp = cafe(observer)
    mcp.tool(asks_twice)

    @mcp.tool
    async def both(ctx: Context) -> str:
        first = await ask("Zeroth?", Order)
        with anyio.fail_after(5):
            inner = await ctx.fastmcp.call_tool("asks_twice")
        return f"{first} {inner.structured_content}"

    run = await run_tool(mcp, "both", None, tea, revision=askback_revision)
    assert [asked.message for asked in run.asked] == ["Zeroth?", "First?", "Second?"]
    assert run.text.count("tea") == 3 and observer.seen == []
