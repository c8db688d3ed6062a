"""One flow from its call to its end, on either era, by a client that answers at once and sends again what got lost."""

import asyncio
import json
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Any, Literal, NamedTuple

from bench.cluster.http import Cut, Message, Web

Ending = Literal["right", "wrong", "interrupted", "refused", "failed", "gone", "hung"]
"""How a flow ended.

| ending | what the client saw |
|---|---|
| right | the result that its answers make |
| wrong | another result |
| interrupted | that its effect was begun and cut short: what `once` says where it may not be repeated |
| refused | one of Askback's refusals: a round used before, or forgotten |
| failed | another error |
| gone | on 2025-11-25, the protocol's own: the session is not there (404), or its connection broke |
| hung | nothing, for longer than anybody should wait |
"""

ROUNDS, PUSH = "2026-07-28", "2025-11-25"

PATIENCE = 40.0
"""Seconds for a flow, whatever happens to it."""

PAUSE = 0.1
"""Before the same request is sent again."""

AGAIN = (502, 503, 504)
MOST_ROUNDS = 12

META: Message = {
    "io.modelcontextprotocol/protocolVersion": ROUNDS,
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}

NUMBERS = count(1)

STORE_DOWN = "store unavailable"


class Trouble(NamedTuple):
    """What became of a request that had to be sent again."""

    at: float
    what: str


@dataclass(slots=True, kw_only=True)
class Flow:
    """What one flow met on its way."""

    name: str
    questions: int
    tool: str
    arguments: dict[str, Any]
    began: float = field(default_factory=monotonic)
    ended: float = 0.0
    ending: Ending = "hung"
    said: str = ""
    """What was wrong."""
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    """Each time that a request had to be sent again."""
    asked: list[str] = field(default_factory=list[str])
    patience: float = PATIENCE
    """Seconds for one request, before the client takes it for lost and sends it again."""
    carriers: set[int] = field(default_factory=set[int])
    """The ports of the workers that its requests went to."""
    owner: int | None = None
    """On 2025-11-25: the process that had its session."""

    @property
    def expected(self) -> str:
        return f"{self.name}: {sum(range(1, self.questions + 1))}"

    @property
    def was_asked_again(self) -> bool:
        return len(set(self.asked)) < len(self.asked)

    def end(self, ending: Ending, said: str = "") -> None:
        self.ending, self.said, self.ended = ending, said, monotonic()

    def met(self, what: str) -> None:
        self.troubles.append(Trouble(monotonic(), what))

    def judge(self, message: Message) -> None:
        """The last answer of the call."""
        if error := message.get("error"):
            self.end(_ending_of(error["message"]), f"{error['code']} {error['message']}")
            return
        result = message["result"]
        text = result["content"][0]["text"] if result.get("content") else ""
        if result.get("isError"):
            self.end(_ending_of(text), text)
        else:
            self.end("right" if text == self.expected else "wrong", text)


TOLD: dict[str, Ending] = {
    "failed with Interrupted": "interrupted",
    "Invalid or expired requestState": "refused",
    "Call again from the start": "refused",
    "has lost its data about this call": "refused",
    "failed with MemoryLost": "refused",
}
"""Words of Askback's errors, and what they mean for a flow."""


def _ending_of(text: str) -> Ending:
    for words, ending in TOLD.items():
        if words in text:
            return ending
    return "failed"


def is_store_down(error: Message | None) -> bool:
    return error is not None and error.get("data") == {"reason": "store_unavailable"}


def reply(message: str) -> Message:
    """The answer to a question that ends with its number."""
    return {"action": "accept", "content": {"amount": int(message.rstrip("?").rpartition(" ")[2])}}


async def run_rounds(web: Web, flow: Flow) -> None:
    """On 2026-07-28: each round a request of its own, to whichever worker gets it."""
    try:
        async with asyncio.timeout(PATIENCE):
            more: Message = {}
            for _ in range(MOST_ROUNDS):
                params = {"name": flow.tool, "arguments": flow.arguments, "_meta": META, **more}
                message = await _until_answered(web, flow, params)
                result = message.get("result")
                if result is None or result.get("resultType") != "input_required":
                    flow.judge(message)
                    return
                asked = {key: one["params"]["message"] for key, one in result["inputRequests"].items()}
                flow.asked += asked.values()
                replies = {key: reply(text) for key, text in asked.items()}
                more = {"inputResponses": replies, "requestState": result["requestState"]}
            flow.end("failed", "it does not stop asking")
    except TimeoutError:
        flow.end("hung")


async def _until_answered(web: Web, flow: Flow, params: Message) -> Message:
    """The same request until somebody answers it: same id, same bytes."""
    request = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": "tools/call", "params": params}
    body = json.dumps(request).encode()
    headers = {"MCP-Protocol-Version": ROUNDS, "Mcp-Method": "tools/call", "Mcp-Name": flow.tool}
    while True:
        try:
            async with asyncio.timeout(flow.patience), web.send(body, headers) as response:
                messages = [message async for message in response.messages()]
                if response.served_by:
                    flow.carriers.add(response.served_by)
        except Cut:
            flow.met("cut")
        except TimeoutError:
            flow.met("silence")
        else:
            answer = next((message for message in messages if message.get("id") == request["id"]), None)
            if answer is None:
                flow.met(str(response.status))
                if response.status not in AGAIN:
                    return {"error": {"code": response.status, "message": f"no answer: {messages}"}}
            elif is_store_down(answer.get("error")):
                flow.met(STORE_DOWN)
            else:
                return answer
        await asyncio.sleep(PAUSE)
