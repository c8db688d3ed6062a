"""Sessions are drained when the last manager of a server stops, also after one that could not start."""

from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager as Manager
from starlette.types import Receive, Scope, Send

from askback.server.hosts.streamable_http import Handle, SessionInterceptor, intercept_sessions

pytestmark = pytest.mark.anyio


async def test_a_manager_that_could_not_start_is_not_waited_for():
    drained: list[str] = []

    async def handle(
        _manager: Manager, _handle: Handle, _scope: Scope, _receive: Receive, _send: Send
    ) -> None:
        raise AssertionError

    async def drain() -> None:
        drained.append("drained")

    server: Server[Any] = Server("travel")
    intercept_sessions(server, SessionInterceptor(handle=handle, stop=lambda: None, drain=drain))
    first, second = Manager(server), Manager(server)
    async with first.run():
        with pytest.raises(RuntimeError, match="once per instance"):
            async with first.run():
                raise AssertionError
        async with second.run():
            pass
        assert not drained
    assert drained == ["drained"]
