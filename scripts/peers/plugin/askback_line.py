"""A pytest plugin for other people's suites: writes down how each test ended, and adds `Askback(server)` if told so.

It stands alone in its folder, which is put on the path of their run: nothing else of ours must be found there.
"""

import json
import os
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from typing import Any, NoReturn

import pytest
from _pytest import raises as pytest_raises

OUTCOMES = "ASKBACK_PEERS_OUTCOMES"
"""The file that gets one line of JSON for each phase of each test."""

ADDED = "ASKBACK_PEERS_LINE"
"""Set where the line is to be added."""

SERVERS = (
    ("mcp.server.lowlevel.server", "Server"),
    ("mcp.server.mcpserver.server", "MCPServer"),
    ("fastmcp.server.server", "FastMCP"),
)

_MAKING: ContextVar[int] = ContextVar("making", default=0)
"""How many servers are being made around this one: an MCPServer makes a Server, and gets the line itself."""


def pytest_configure(config: pytest.Config) -> None:
    # In a task group pytest's own way to fail takes the event loop down with it, and so the tests after it.
    setattr(pytest_raises, "fail", _fail)  # noqa: B010 - pytest does not export it
    if ADDED in os.environ:
        for module, name in SERVERS:
            _add_line(module, name)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ or (report.when != "call" and report.passed):
        return
    outcome = report.outcome if report.when == "call" or not report.failed else "error"
    line = {"test": report.nodeid, "outcome": outcome, "text": "" if report.passed else report.longreprtext}
    with open(os.environ[OUTCOMES], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _fail(reason: str = "", pytrace: bool = True) -> NoReturn:
    raise AssertionError(reason)


def _add_line(module: str, name: str) -> None:
    try:
        made: Any = getattr(import_module(module), name)
    except ImportError:  # the SDK's environment has no FastMCP
        return
    made.__init__ = _and_askback(made.__init__)


def _and_askback(make: Callable[..., None]) -> Callable[..., None]:
    from askback import Askback

    @wraps(make)
    def make_and_add(self: Any, *args: Any, **kwargs: Any) -> None:
        depth = _MAKING.get()
        token = _MAKING.set(depth + 1)
        try:
            make(self, *args, **kwargs)
        finally:
            _MAKING.reset(token)
        if depth == 0:
            Askback(self)

    return make_and_add
