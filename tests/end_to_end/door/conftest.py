"""One browser and one OpenID provider for all tests of the door, and a vault for each."""

from pathlib import Path

import pytest

from askback.vault.keys import VARIABLE, new_key
from tests.support.chromium import browser as browser
from tests.support.openid.provider import openid as openid


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, new_key())
