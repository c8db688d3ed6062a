"""A desktop's keyring for tests: real to the `keyring` library, kept in memory or in a file that processes share."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

PLACE = "TEST_DESKTOP"
"""The environment variable with the file."""


class Desktop(KeyringBackend):
    """In memory."""

    priority = 5  # pyright: ignore[reportAssignmentType] # as the library's own backends have it

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.is_locked:
            raise KeyringLocked("the collection is locked")
        return self.kept.get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[f"{service}/{username}"] = password


class SharedDesktop(Desktop):
    """In a file, and as slow as a desktop: between a look and a change others get their turn."""

    @property
    def _file(self) -> Path:
        return Path(os.environ[PLACE])

    def get_password(self, service: str, username: str) -> str | None:
        kept: dict[str, str] = json.loads(self._file.read_text()) if self._file.exists() else {}
        return kept.get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        os.sched_yield()
        draft = self._file.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps({f"{service}/{username}": password}))
        draft.replace(self._file)
