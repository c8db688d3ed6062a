"""Errands to run, one browser for all, and terminals with a home of their own."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.cli.conftest import home as home
from tests.cli.conftest import screen as screen
from tests.guards.people.errands import Errands
from tests.support.chromium import browser as browser
from tests.support.desk import PATIENCE

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture
def errands(tmp_path: Path) -> Errands:
    (tmp_path / "errands").mkdir()
    return Errands(tmp_path / "errands").prepare()
