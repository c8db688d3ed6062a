"""The matrix: the SDK's two hosts, and FastMCP where it counts; every kind of request; every store."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from askback.stores import MemoryStore, SQLiteStore, Store
from tests.runtime.once.servers import KINDS, Host, Kind
from tests.support.stores.workers import opener as opener


@pytest.fixture(params=["MCPServer", "Server"])
def host(request: pytest.FixtureRequest) -> Host:
    return request.param


@pytest.fixture(params=["MCPServer", "Server", "FastMCP"])
def every_host(request: pytest.FixtureRequest) -> Host:
    return request.param


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str) -> AsyncGenerator[Store]:
    opened = MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "once.db")
    yield opened
    await opened.close()
