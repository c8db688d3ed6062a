"""A client and its person, who do what clients and people do: go on, and when a worker is gone, take the next one.

On the rounds era the same request goes out again. On the push era there is nothing to go on with: the client connects
anew, and makes the call from the start.
"""

import json
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from askback.testing.run import CLIENT_INFO
from tests.end_to_end.faults.shop import ANSWERS

ROUNDS, PUSH = "2026-07-28", "2025-11-25"

PATIENCE = 20.0
"""Seconds that anything may take; it takes milliseconds, or the lease of whoever died."""

CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}

ENVELOPE: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": ROUNDS,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
}

End = Mapping[str, Any]


class Gone(Exception):
    """The worker hung up."""


class Line:
    """A connection to one worker."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._heard = line, b""
        line.settimeout(PATIENCE)

    def send(self, **message: Any) -> None:
        try:
            self._line.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        except OSError as error:
            raise Gone from error

    def receive(self) -> dict[str, Any]:
        while b"\n" not in self._heard:
            try:
                more = self._line.recv(65_536)
            except ConnectionError as error:
                raise Gone from error
            if not more:
                raise Gone
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return json.loads(line)

    def hang_up(self) -> None:
        self._line.close()


class Client:
    """One flow, on one revision. `connect` gives a line to a worker that lives."""

    def __init__(self, revision: str, connect: Callable[[], socket.socket]) -> None:
        self._revision, self._connect = revision, connect
        self._numbers = count(1)
        self._line = self._connected()
        self.shown: Counter[str] = Counter()
        """What the person has seen, and how often."""

    def order(self, **arguments: Any) -> End:
        """How it ended: a result, or the error in its place."""
        try:
            params: dict[str, Any] = {"name": "order", "arguments": arguments}
            return self._in_rounds(params) if self._revision == ROUNDS else self._deliver(params)
        finally:
            self._line.hang_up()

    def _in_rounds(self, params: dict[str, Any]) -> End:
        end = self._deliver(params)
        while end.get("resultType") == "input_required":
            asked: dict[str, Any] = end.get("inputRequests", {})
            replies = {key: self._answer(request["params"]) for key, request in asked.items()}
            end = self._deliver({**params, "inputResponses": replies, "requestState": end["requestState"]})
        return end

    def _deliver(self, params: End) -> End:
        """The same request, until somebody answers it; on the push era that begins the call anew."""
        while True:
            line = self._line
            try:
                return self._exchange(params)
            except Gone:
                if line is self._line:
                    self._reconnect()

    def _exchange(self, params: End) -> End:
        number = next(self._numbers)
        envelope: dict[str, Any] = {"_meta": ENVELOPE} if self._revision == ROUNDS else {}
        self._line.send(id=number, method="tools/call", params={**params, **envelope})
        while True:
            match self._line.receive():
                case {"id": id, "method": "elicitation/create", "params": asked}:
                    line = self._line
                    reply = self._answer(asked)
                    if line is not self._line:
                        raise Gone  # while the person was on the page; another was told of that
                    self._line.send(id=id, result=reply)
                case {"id": id, "result": result} if id == number:
                    return result
                case {"id": id, "error": error} if id == number:
                    return error
                case _:
                    pass

    def _answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self.shown[asked["message"]] += 1
        if asked["mode"] == "url":
            self._pay(asked["url"].rpartition("/")[2])
            return {"action": "accept"}
        return {"action": "accept", "content": {"value": ANSWERS[asked["message"]]}}

    def _pay(self, id: str) -> None:
        """The person does on the page what they were sent for, and the page says so."""
        self._deliver({"name": "paid", "arguments": {"id": id}})

    def _reconnect(self) -> None:
        self._line.hang_up()
        self._line = self._connected()

    def _connected(self) -> Line:
        line = Line(self._connect())
        if self._revision == PUSH:
            hello: dict[str, Any] = {
                "protocolVersion": PUSH,
                "capabilities": CAPABILITIES,
                "clientInfo": CLIENT_INFO,
            }
            line.send(id=0, method="initialize", params=hello)
            line.receive()
            line.send(method="notifications/initialized")
        return line
