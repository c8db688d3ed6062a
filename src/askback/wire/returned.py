"""Rounds that a body keeps by itself, for clients of the push era: its questions are sent, and it is called again."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ClientCapabilities,
    CreateMessageRequest,
    ElicitRequest,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
)
from pydantic import ValidationError

from askback.answer import Answer
from askback.errors import AuthorError, CannotAsk
from askback.question import Question
from askback.wire.elicited import question_of, reply_of
from askback.wire.push import BackChannel

MOST_ROUNDS = 50
"""A body that still asks after this many is going in circles; clients of the rounds era give up after ten."""

PAUSES = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds before a round that asks nothing is called again, the last one repeated; clients do the same."""

ROUND = "input_required"
"""What a round that a body returned is called, where a host wraps it."""

Ask = Callable[[str, Question], Awaitable[Answer[Any]]]


class Returned:
    """The rounds of one call, until its body gives a result."""

    def __init__(
        self, *, capabilities: Callable[[], ClientCapabilities | None], channel: BackChannel, ask: Ask
    ) -> None:
        self._capabilities, self._channel, self._ask = capabilities, channel, ask
        self._rounds = self._empty_rounds = 0

    async def next_params(self, params: Mapping[str, Any], result: object) -> dict[str, Any]:
        """What the body is called with after these questions: their replies, and its own state."""
        self._rounds += 1
        if self._rounds > MOST_ROUNDS:
            raise AuthorError(
                f"This call has returned {MOST_ROUNDS} rounds of questions and no result. Let it read the replies it "
                "is called with (input_responses, request_state) and come to an end."
            )
        asked = _read(result)
        if not asked.input_requests:
            await self._pause()
        replies = {key: await self._fulfil(key, one) for key, one in (asked.input_requests or {}).items()}
        rest = {name: value for name, value in params.items() if name not in _FOR_THE_ROUND}
        return rest | _given("inputResponses", replies or None) | _given("requestState", asked.request_state)

    async def _fulfil(self, key: str, request: InputRequest) -> dict[str, Any]:
        match request:
            case ElicitRequest():
                return reply_of(await self._ask(key, question_of(request.params)))
            case CreateMessageRequest():
                return await self._send(request, "sampling")
            case ListRootsRequest():
                return await self._send(request, "roots")

    async def _send(
        self, request: CreateMessageRequest | ListRootsRequest, capability: str
    ) -> dict[str, Any]:
        """Sampling and roots are not ours; they go the same way as they are."""
        declared = self._capabilities()
        if declared is None or getattr(declared, capability) is None:
            raise _cannot(capability, f"This client did not declare {capability}.")
        wire = request.model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            return await self._channel.send_raw_request(wire["method"], wire.get("params"))
        except MCPError as error:
            raise _cannot(capability, f"The client answered with error {error.code}.") from error

    async def _pause(self) -> None:
        await anyio.sleep(PAUSES[min(self._empty_rounds, len(PAUSES) - 1)])
        self._empty_rounds += 1


_FOR_THE_ROUND = {"inputResponses", "requestState"}


def _given(name: str, value: Any) -> dict[str, Any]:
    return {} if value is None else {name: value}


def _read(result: object) -> InputRequiredResult:
    if isinstance(result, InputRequiredResult):
        return result
    try:
        return InputRequiredResult.model_validate(result)
    except ValidationError as error:
        raise AuthorError(
            "This call returned a round of questions that is not one: check it against InputRequiredResult."
        ) from error


def _cannot(capability: str, reason: str) -> CannotAsk:
    return CannotAsk(
        mode=capability,
        reason=f"This call needs {capability} from the client. {reason}",
        advice="Use a client that offers it; in the tool, ask for it only where ctx.client_capabilities has it.",
    )
