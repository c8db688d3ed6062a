"""Where Askback meets each host: one file for the official SDK, one for FastMCP, chosen here."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from mcp.server import MCPServer
from mcp.server.lowlevel import Server

from askback.server.hosts import mcp, mcp_tools
from askback.server.hosts.entrance import note_arrivals
from askback.server.hosts.patches import require
from askback.server.hosts.session import intercept_elicitations
from askback.server.tool_guards import GuardSet


def lowlevel_of(server: object) -> Server[Any]:
    """The low-level server inside `server`, after a look at everything we rely on in it."""
    if is_fastmcp(server):
        return mcp.require_lowlevel(_fastmcp().inner_server_of(cast("Any", server)), server)
    return mcp.require_lowlevel(mcp.inner_server_of(server), server)


def install_host(server: object) -> None:
    """Install into the host itself, beside the middleware in its low-level server."""
    intercept_elicitations()
    mcp.intercept_returned_questions(lowlevel_of(server))
    if is_fastmcp(server):
        _fastmcp().install_fastmcp(cast("Any", server))
    else:
        mcp.install_mcpserver(server)


def examine_tools(server: object) -> None:
    """Whether guards can be put before its tools; a low-level server has none, but one handler for them all."""
    if is_fastmcp(server):
        _fastmcp_tools().examine_tools(cast("Any", server))
    elif isinstance(server, MCPServer):
        mcp_tools.examine_tools(cast("Any", server))


def guard_tools(server: object, guards: GuardSet) -> None:
    """Have a person asked before the tools that the guards are for, whenever those are added."""
    leads_to_tools: Callable[[mcp_tools.Handler], bool] = lambda handler: False  # noqa: E731 - one of three
    if is_fastmcp(server):
        leads_to_tools = _fastmcp_tools().guard_tools(cast("Any", server), guards)
    elif isinstance(server, MCPServer):
        leads_to_tools = mcp_tools.guard_tools(cast("Any", server), guards)
    mcp_tools.guard_handler(lowlevel_of(cast("object", server)), guards, leads_to_tools)


def note_entrance(server: object) -> None:
    """Have the HTTP application of this server note where its requests come in."""
    if is_fastmcp(server):
        note_arrivals(server, "http_app", "fastmcp")
    else:
        note_arrivals(lowlevel_of(server), "streamable_http_app")


def add_pages(server: object, app: object) -> None:
    """Pages beside /mcp, in servers that have an HTTP application of their own."""
    if is_fastmcp(server):
        _fastmcp().add_pages(cast("Any", server), app)
    else:
        mcp.add_pages(server, app)


def is_protected(server: object) -> bool | None:
    """Whether its callers over HTTP bring tokens; None where that cannot be told before they call."""
    return _fastmcp().is_protected(cast("Any", server)) if is_fastmcp(server) else mcp.is_protected(server)


def is_named(server: object) -> bool:
    """Whether its author gave it a name of its own."""
    return _fastmcp().is_named(cast("Any", server)) if is_fastmcp(server) else mcp.is_named(server)


def is_fastmcp(server: object) -> bool:
    """Told by the names of its classes, so that nothing is imported for the sake of asking."""
    return any(
        base.__name__ == "FastMCP" and base.__module__.partition(".")[0] == "fastmcp"
        for base in type(server).__mro__
    )


def _fastmcp() -> ModuleType:
    return _ours("fastmcp")


def _fastmcp_tools() -> ModuleType:
    return _ours("fastmcp_tools")


def _ours(name: str) -> ModuleType:
    """Our file for FastMCP; an extra, which is known to be installed where this is called."""
    try:
        return import_module(f"{__name__}.{name}")
    except ImportError as error:
        require(False, str(error), "fastmcp")
        raise
