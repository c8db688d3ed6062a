"""The servers into which Askback can be installed: one adapter for the official SDK, one for FastMCP."""

from importlib import import_module
from typing import Any

from mcp.server.lowlevel import Server

from askback.server.hosts import mcp, mcp_tools
from askback.server.hosts.entrance import note_arrivals
from askback.server.hosts.patches import require
from askback.server.hosts.session import intercept_elicitations
from askback.server.tool_guards import GuardSet


def lowlevel_of(server: object) -> Server[Any]:
    """The low-level server inside `server`, after a check of everything we rely on in it."""
    return mcp.require_lowlevel(_adapter_of(server).inner_server_of(server), server)


def install_host(server: object) -> None:
    """Install into the host itself, beside the middleware in its low-level server."""
    intercept_elicitations()
    mcp.intercept_returned_questions(lowlevel_of(server))
    _adapter_of(server).install(server)


def examine_tools(server: object) -> None:
    """Check that guards can be put before its tools."""
    _adapter_of(server, "_tools").examine_tools(server)


def guard_tools(server: object, guards: GuardSet) -> None:
    """Have a person asked before the tools that the guards are for, whenever those tools are added."""
    leads_to_tools = _adapter_of(server, "_tools").guard_tools(server, guards)
    mcp_tools.guard_handler(lowlevel_of(server), guards, leads_to_tools)


def note_entrance(server: object) -> None:
    """Have the HTTP application of this server note where its requests come in."""
    if is_fastmcp(server):
        note_arrivals(server, "http_app", "fastmcp")
    else:
        note_arrivals(lowlevel_of(server), "streamable_http_app")


def add_pages(server: object, app: object) -> None:
    """Serve pages beside /mcp, in servers that have an HTTP application of their own."""
    _adapter_of(server).add_pages(server, app)


def is_protected(server: object) -> bool | None:
    """Whether its callers over HTTP bring tokens. None if that cannot be known before they call."""
    return _adapter_of(server).is_protected(server)


def is_named(server: object) -> bool:
    """Whether its author gave it a name of its own."""
    return _adapter_of(server).is_named(server)


def is_fastmcp(server: object) -> bool:
    """Decided by the names of its classes, so that FastMCP is not imported for other servers."""
    return any(
        base.__name__ == "FastMCP" and base.__module__.partition(".")[0] == "fastmcp"
        for base in type(server).__mro__
    )


def _adapter_of(server: object, part: str = "") -> Any:
    """Our module for the host of this server. FastMCP is an extra, which is installed if there is such a server."""
    package = "fastmcp" if is_fastmcp(server) else "mcp"
    try:
        return import_module(f"{__name__}.{package}{part}")
    except ImportError as error:
        require(False, str(error), package)
        raise
