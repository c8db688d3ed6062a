"""The loop of the rounds era: answer all that a round asks, people last, and make the call again. Knows no person."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from askback.protocol.client.questions import IncomingRound

Send = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any] | IncomingRound]]
Fulfil = Callable[[IncomingRound, str], Awaitable[Any]]
"""The reply to the request of this round that has this key."""
Again = Callable[[bool], Awaitable[None]]
"""Before the call is made again; told whether anything was asked. Raises where the server has had its time."""


class CallStrategy(Protocol):
    """How a call is brought to its end: with a person at hand, or left at its questions."""

    async def __call__(
        self, params: Mapping[str, Any], *, send: Send, fulfil: Fulfil, again: Again
    ) -> dict[str, Any]: ...


async def run_rounds(
    params: Mapping[str, Any], *, send: Send, fulfil: Fulfil, again: Again
) -> dict[str, Any]:
    """The result that the rounds lead to. They are bounded in time, by `again`, and not in number."""
    found = await send(params)
    while isinstance(found, IncomingRound):
        ours = await without_a_person(found, fulfil)
        # One after another: a person reads one question at a time (R70).
        replies = {key: ours[key] if key in ours else await fulfil(found, key) for key in found.requests}
        await again(bool(replies))
        found = await send(found.answer_params(params, replies))
    return found


async def without_a_person(asking: IncomingRound, fulfil: Fulfil) -> dict[str, Any]:
    """The replies to what no person is asked. They come first: what fails there costs nobody what they typed."""
    return {key: await fulfil(asking, key) for key in asking.requests if asking.question(key) is None}
