"""A client with more than a person behind it: a model to sample from, and roots."""

from collections.abc import Mapping
from typing import Any

from mcp.shared.dispatcher import DispatchContext
from mcp.shared.transport_context import TransportContext

from askback.server.call import REHEARSAL, Rehearsal
from askback.server.hosts import lowlevel_of
from askback.testing import Run
from askback.testing.run import TranscriptLine, Wire, connect
from askback.testing.script import Answers, Script
from tests.protocol.styles.conftest import Way

SAMPLED = {"role": "assistant", "model": "small", "content": {"type": "text", "text": "a haiku"}}
ROOTS = {"roots": [{"uri": "file:///home/ada", "name": "home"}]}
CANNED: dict[str, dict[str, Any]] = {"sampling/createMessage": SAMPLED, "roots/list": ROOTS}

EVERYTHING: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class WellEquipped(Wire):
    """Answers sampling and roots by itself, and questions as the script says."""

    async def on_request(
        self, _ctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        if method not in CANNED:
            return await super().on_request(_ctx, method, params)
        self.transcript.append(TranscriptLine("<-", method, params))
        return CANNED[method]

    async def _rounds(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        result = await self.send(method, params)
        while result.get("resultType") == "input_required":
            requests: dict[str, Any] = result.get("inputRequests", {})
            replies = {key: await self._reply(key, request) for key, request in requests.items()}
            state = {"requestState": result["requestState"]}
            result = await self.send(method, {**params, "inputResponses": replies, **state})
        return result

    async def _reply(self, key: str, request: Mapping[str, Any]) -> Any:
        canned = CANNED.get(request["method"])
        return canned if canned is not None else await self._answer(key, request["params"])


async def run_well_equipped(
    server: Any,
    answers: Answers = (),
    *,
    way: Way,
    method: str = "tools/call",
    params: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] = EVERYTHING,
) -> Run:
    """As `run_tool`, with this client."""
    script = Script(answers)
    wire = WellEquipped(version=way.revision, capabilities=capabilities, script=script)
    token = REHEARSAL.set(Rehearsal(always_replay=way.always_replay))
    try:
        async with connect(lowlevel_of(server), wire):
            result = await wire.call(method, params or {"name": "t", "arguments": {}})
    finally:
        REHEARSAL.reset(token)
    script.finish(str(result))
    return Run(result=result, asked=script.asked, transcript=wire.transcript)
