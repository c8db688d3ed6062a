"""A FastMCP server on a free loopback port for the length of a block."""

from contextlib import AbstractAsyncContextManager
from types import SimpleNamespace
from typing import Any, cast

from fastmcp import FastMCP

from tests.support.servers.http import served


def fastmcp_served(server: FastMCP[Any], **options: Any) -> AbstractAsyncContextManager[str]:
    """Serve `server` over streamable HTTP and give its URL."""
    # FastMCP has the same app under another name.
    return served(cast("Any", SimpleNamespace(streamable_http_app=server.http_app)), **options)
