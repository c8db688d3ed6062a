"""A body that returns its own questions, served to a client of the push era: asked here, then called again."""

from dataclasses import replace
from functools import partial
from typing import Any

from askback.answers import Answer
from askback.model.question import Question
from askback.protocol.server.returned_rounds import ReturnedRounds
from askback.runtime.conversation import Conversation
from askback.server.call import Call
from askback.server.hosts.mcp import back_channel


async def prepare_next(call: Call, result: object) -> None:
    """Ask what the body returned, and let its next call bring the replies.

    What the body asks with `ask` stays in the call's journal from round to round.
    """
    call.returned = call.returned or ReturnedRounds(client=call.client, channel=back_channel(call.ctx))
    ask = partial(_ask, call)
    params = await call.returned.next_params(call.ctx.params or {}, result, ask=ask)
    call.ctx = replace(call.ctx, params=params)


async def _ask(call: Call, key: str, question: Question) -> Answer[Any]:
    """Ask in a context of its own: nothing of a returned question is journalled or replayed."""
    aside = Call(call.settings, call.context.server, call.ctx).context
    aside.events = call.context.events
    aside.carrier = call.make_push()
    return await Conversation(aside, takes_returns=False).ask(question, key=key)
