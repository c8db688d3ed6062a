"""Runs contests: connects both sides, checks that they do the same work, times them in pairs."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from time import perf_counter, process_time

from mcp import Client
from mcp_types import CallToolResult

from bench.blocks import Call, Clock, Plan, time_pairs
from bench.connect import Transport, connected
from bench.contests import COUNT, SIDES, Contest
from bench.interval import estimate
from bench.order import expected
from bench.results import Outcome

CLOCKS: dict[Transport, Clock] = {"in-memory": process_time, "stdio": perf_counter, "http": perf_counter}
"""In memory nobody waits for anybody: the time of this process is all of it, without what the neighbours take."""


Show = Callable[[Outcome], None]


async def run_contests(contests: Sequence[Contest], plan: Plan, show: Show) -> None:
    """Each with servers of its own: what one leaves behind in a store or a cache is not the next one's to pay for."""
    for contest in contests:
        our_side, their_side = SIDES[contest.part]
        async with (
            connected(our_side, contest.transport, contest.revision) as ours,
            connected(their_side, contest.transport, contest.revision) as theirs,
        ):
            show(await _outcome(contest, ours, theirs, plan))


async def _outcome(contest: Contest, ours: Client, theirs: Client, plan: Plan) -> Outcome:
    tools = (ours, contest.questions), (theirs, contest.their_tool)
    for client, tool in tools:
        await _check(client, tool, contest)
    own, other = (_call(client, tool, contest) for client, tool in tools)
    for _ in range(plan.to_fill if contest.when_full else 0):
        await own()
    plan = plan.finer() if contest.transport == "in-memory" else plan
    timing = await time_pairs(own, other, plan, CLOCKS[contest.transport])
    return Outcome(contest=contest, timing=timing, ratio=estimate(timing.ratios))


async def _check(client: Client, tool: str, contest: Contest) -> None:
    """Only what does the same work is compared."""
    if client.protocol_version != contest.revision:
        raise RuntimeError(f"{contest.name}: connected on {client.protocol_version}")
    result = await client.call_tool(tool, {"guest": "you"})
    if _text(result) != expected(COUNT[contest.questions]):
        raise RuntimeError(f"{contest.name}: {tool} gave {result}")


def _text(result: CallToolResult) -> str | None:
    match result.structured_content:
        case {"result": str(text)} if not result.is_error:
            return text
        case _:
            return None


def _call(client: Client, tool: str, contest: Contest) -> Call:
    guests = _new_guests() if contest.in_new_words else None
    return lambda: client.call_tool(tool, {"guest": "you" if guests is None else next(guests)})


def _new_guests() -> Iterator[str]:
    return (f"guest {number}" for number in count())
