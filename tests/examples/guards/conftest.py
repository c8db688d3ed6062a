"""The shop's database: a small one for most stories, and the whole one, made once."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from mcp.server import MCPServer

from examples.guarded_sql.__main__ import TAGS
from examples.guarded_sql.database import make_database, open_hardened
from examples.guarded_sql.server import make_server
from tests.support.chromium import browser as browser

FEW = 5
"""Rows, for who chooses to run it for fewer."""


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand orders of two hundred customers."""
    return make_database(tmp_path_factory.mktemp("small") / "shop.duckdb", orders=2000)


@pytest.fixture
def connection(database: Path) -> Generator[duckdb.DuckDBPyConnection]:
    with closing(open_hardened(database)) as connection:
        yield connection


@pytest.fixture
def shop(connection: duckdb.DuckDBPyConnection) -> MCPServer:
    return make_server(connection, TAGS, most_rows=FEW)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Generator[duckdb.DuckDBPyConnection]:
    """A million orders."""
    database = make_database(tmp_path_factory.mktemp("whole") / "shop.duckdb")
    with closing(open_hardened(database)) as connection:
        yield connection
