"""A home of the test's own, in which no key was ever made, and no desktop."""

from collections.abc import Generator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoDesktop

from askback.stores import MemoryStore
from askback.testing.store_contract.base import Clock
from askback.vault.keys import HOME, VARIABLE
from askback.vault.vault import Vault
from tests.support.vault_keys import ring


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Where keys and the embedded vault would be; not made yet."""
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    before = keyring.get_keyring()
    keyring.set_keyring(NoDesktop())
    yield tmp_path / "home"
    keyring.set_keyring(before)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def vault(clock: Clock) -> Vault:
    return Vault(MemoryStore(clock=clock), ring("key"), clock=clock).for_server("weather")
