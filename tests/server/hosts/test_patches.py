"""Patches of the SDK, FastMCP and Starlette: the docs list all of them, and assignments elsewhere are found."""

from typing import Any

import pytest

from askback.errors import UnsupportedHost
from askback.server.hosts import patches
from scripts.patches import PAGE, page
from tests.support.replaced_attributes import replaced_lines


def test_the_page_of_patches_is_written_from_their_docstrings():
    text = PAGE.read_text()
    assert page(text) == text, "run `python -m scripts.patches`"


def test_a_patch_of_what_is_not_there_is_refused_by_name():
    class Moved:
        pass

    with pytest.raises(UnsupportedHost, match="in the fastmcp package: Moved has elicit"):
        patches.patch_elicit(Moved, unchanged)
    with pytest.raises(UnsupportedHost, match="in the mcp package: Moved has call_tool"):
        patches.patch_mcpserver_verb(Moved(), "call_tool", unchanged)


def unchanged(function: Any) -> Any:
    return function


SAMPLES = {
    "an attribute of a class": "from mcp.server import Server\nServer.run = other",
    "of a module": "from mcp.server import streamable_http as http\nhttp.EventSourceResponse = other",
    "by setattr": "import starlette.applications\nsetattr(starlette.applications.Starlette, name, other)",
    "of an argument": "from fastmcp import FastMCP\ndef f(server: 'FastMCP[int]'):\n    server.get_tasks = other",
    "of a class given": "from fastmcp import FastMCP\ndef f(kind: type[FastMCP]):\n    kind.run = other",
    "of a cast": "from mcp.server import Server\ndef f(s: Server):\n    host = cast('Any', s)\n    host.run = other",
    "of what is in it": "from mcp.server import Server\ndef f(s: Server | None):\n    s.session.send += other",
    "in its dictionary": "from mcp.server import Server\ndef f(s: Server):\n    vars(s)['run'] = other",
    "in its dictionary, directly": "from mcp.server import Server\nServer.__dict__['run'] = other",
    "deleted": "from mcp.server import Server\ndel Server.run",
    "a context variable": "from fastmcp.server.dependencies import fastmcp_request_ctx as ctx\nctx.set(other)",
    "by update": "from mcp.server import Server\ndef f(s: Server):\n    vars(s).update(run=other)",
}

HARMLESS = {
    "an object that we made": "from starlette.applications import Starlette\napp = Starlette()\napp.debug = True",
    "a mark of ours": "from mcp.server import Server\ndef f(s: Server):\n    s.askback_mark = other",
    "in its dictionary": "from mcp.server import Server\nM = '_askback_m'\ndef f(s: Server):\n    vars(s)[M] = 1",
    "of ourselves": "from mcp.server import Server\nclass A(Server):\n    def f(self):\n        self.run = other",
    "a copy": "from mcp.server import Server\ndef f(s: Server):\n    copied = s.copy()\n    copied.run = other",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_replaced_attribute_is_found(sample: str):
    assert len([*replaced_lines(SAMPLES[sample])]) == 1


@pytest.mark.parametrize("sample", HARMLESS)
def test_what_replaces_nothing_is_not_reported(sample: str):
    assert not [*replaced_lines(HARMLESS[sample])]
