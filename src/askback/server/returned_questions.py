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
    params = await call.returned.next_params(call.params, result, ask=partial(_ask, call))
    call.ctx = replace(call.ctx, params=params)


async def _ask(call: Call, key: str, question: Question) -> Answer[Any]:
    conversation = Conversation(_Aside(call))
    conversation.require_open(key)
    return await conversation.ask(conversation.place(question, key=key, seconds=None))


class _Aside(Call):
    """The setting of one returned question: the call's own, but nothing of it is journalled or replayed."""

    __slots__ = ()

    def __init__(self, call: Call) -> None:
        super().__init__(call.settings, call.ctx)
        self.takes_returns = False
        self.recording = call.witness
        self._carrier = self.make_push()
        self._ids = call.ids  # what is asked again in a later round is no copy
