"""Keys without a store that is shared, and a store without keys: each by itself is most likely forgotten."""

import logging
from pathlib import Path

import pytest
from mcp.server import MCPServer

from askback import Askback
from askback.stores import MemoryStore, Reach, SQLiteStore, Store

KEYS = [b"k" * 32]


class Far(MemoryStore):
    """As if it were at the other end of a network."""

    reach: Reach = "network"


def said(caplog: pytest.LogCaptureFixture, store: Store, keys: list[bytes] | None) -> list[str]:
    with caplog.at_level(logging.WARNING, logger="askback"):
        Askback(MCPServer("pizzeria"), keys=keys, store=store)
    return caplog.messages


def test_keys_that_others_may_have_and_a_store_that_nobody_has(caplog: pytest.LogCaptureFixture):
    (line,) = said(caplog, MemoryStore(), KEYS)
    assert "may be run there again" in line
    assert "redis://" in line


def test_a_store_that_others_have_and_keys_that_nobody_has(caplog: pytest.LogCaptureFixture):
    (line,) = said(caplog, Far(), None)
    assert "keys= is not given" in line


def test_both_or_neither_is_nothing_to_be_warned_of(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    assert said(caplog, Far(), KEYS) == []
    assert said(caplog, MemoryStore(), None) == []
    assert said(caplog, SQLiteStore(tmp_path / "askback.db"), KEYS) == []
    assert said(caplog, SQLiteStore(tmp_path / "askback.db"), None) == []
