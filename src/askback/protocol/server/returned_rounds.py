"""Rounds that a body keeps by itself, for clients of the push era: its questions are sent, and it is called again."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageRequest, ElicitRequest, InputRequest, ListRootsRequest
from pydantic import ValidationError

from askback.answers import Answer
from askback.errors import AuthorError
from askback.model.question import Question
from askback.protocol.elicitation import question_of, reply_of, without_round
from askback.protocol.server.round_requests import CallClient, cannot_give, examine, read_round
from askback.protocol.server.rounds import require_readable

MAX_RETURNED_ROUNDS = 50
"""A body that still asks after this many is going in circles; clients of the rounds era give up after ten."""

PAUSES = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds before a round that asks nothing is called again, the last one repeated; clients do the same."""

ROUND = "input_required"
"""What a round that a body returned is called, where a host wraps it."""

AskQuestion = Callable[[str, Question], Awaitable[Answer[Any]]]


class ReturnedRounds:
    """The rounds of one call, until its body gives a result."""

    def __init__(self, *, client: CallClient, channel: DispatchContext[Any]) -> None:
        self._client, self._channel = client, channel
        self._rounds = self._empty_rounds = 0

    async def next_params(
        self, params: Mapping[str, Any], result: object, *, ask: AskQuestion
    ) -> dict[str, Any]:
        """What the body is called with after these questions: their replies, and its own state."""
        self._rounds += 1
        if self._rounds > MAX_RETURNED_ROUNDS:
            raise AuthorError(
                f"This call has returned {MAX_RETURNED_ROUNDS} rounds of questions and no result. Let it read the "
                "replies it is called with (input_responses, request_state) and come to an end."
            )
        asked = read_round(result)
        examine(asked.input_requests, self._client)
        if not asked.input_requests:
            await self._pause()
        requests = asked.input_requests or {}
        replies = {key: await self._fulfil(key, request, ask) for key, request in requests.items()}
        given = {"inputResponses": replies or None, "requestState": asked.request_state}
        return without_round(params) | {name: value for name, value in given.items() if value is not None}

    async def _fulfil(self, key: str, request: InputRequest, ask: AskQuestion) -> dict[str, Any]:
        match request:
            case ElicitRequest():
                return reply_of(await ask(key, question_of(request.params)))
            case CreateMessageRequest():
                return await self._send(request, "sampling")
            case ListRootsRequest():
                return await self._send(request, "roots")

    async def _send(
        self, request: CreateMessageRequest | ListRootsRequest, capability: str
    ) -> dict[str, Any]:
        """Sampling and roots are not ours; they go the same way as they are."""
        wire = request.model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            reply = await self._channel.send_raw_request(wire["method"], wire.get("params"))
            require_readable({capability: reply})
        except MCPError as error:
            raise cannot_give(capability, f"The client answered with error {error.code}.") from error
        except ValidationError as error:
            raise cannot_give(capability, "The client answered with something else.") from error
        return reply

    async def _pause(self) -> None:
        await anyio.sleep(PAUSES[min(self._empty_rounds, len(PAUSES) - 1)])
        self._empty_rounds += 1
