"""The café, on every revision of the protocol that can ask."""

import asyncio

from server import mcp

from askback.testing import accept, cancel, decline
from askback.testing.plugin import RunTool


def test_the_guest_gets_the_size_they_chose(askback_run_tool: RunTool):
    run = asyncio.run(askback_run_tool(mcp, "coffee", {"kind": "latte"}, [accept("large")]))
    assert run.text == "One large latte."
    assert run.asked[0].message == "What size of latte?"


def test_no_is_taken_for_no(askback_run_tool: RunTool):
    run = asyncio.run(askback_run_tool(mcp, "coffee", {"kind": "latte"}, [decline()]))
    assert run.text == "No coffee then."


def test_a_closed_form_is_not_a_no(askback_run_tool: RunTool):
    run = asyncio.run(askback_run_tool(mcp, "coffee", {"kind": "latte"}, [cancel()]))
    assert run.text == "Tell me the size when you like."
