"""Errands to run, one browser for all, and terminals with a home of their own."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.chromium import browser as browser
from tests.client.cli.conftest import home as home
from tests.client.cli.conftest import screen as screen
from tests.client.desk.sitting import PATIENCE
from tests.guards.people.errands import Errands

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture
def errands(tmp_path: Path) -> Errands:
    (tmp_path / "errands").mkdir()
    return Errands(tmp_path / "errands").prepare()
