"""Where the keys of a vault come from: the environment, the desktop's keyring, or a file that is made for its owner
alone. Without the first, only where the server runs for whoever sits at this machine."""

import base64
import binascii
import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from askback.errors import VaultUnavailable
from askback.vault.sealing import KEY_BYTES, KeyRing

logger = logging.getLogger("askback")

VARIABLE = "ASKBACK_VAULT_KEYS"
"""Keys as `askback vault key` writes them, the newest first, with spaces or commas between them."""

HOME = "ASKBACK_HOME"
"""Where local keys and the embedded vault are, in place of the usual directory."""

SERVICE, ENTRY = "askback", "vault keys"
"""The names in the desktop's keyring."""

FILE = "vault.keys"


def data_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Where this user's programs keep what lasts."""
    if home := environment.get(HOME):
        return Path(home).expanduser()
    if sys.platform == "win32":
        base = environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "askback"


def new_key() -> str:
    """A key as it is written."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode()


def find_keys(*, is_local: bool, environment: Mapping[str, str] = os.environ) -> KeyRing:
    """The ring of this server. On this machine alone a key is made where there is none."""
    if written := environment.get(VARIABLE, "").strip():
        return read_keys(written, source=VARIABLE)
    if not is_local:
        raise VaultUnavailable(
            f"A server that others reach keeps its vault's keys in the environment: set {VARIABLE} to what `askback "
            "vault key` prints, the same for all its workers."
        )
    desktop, file = _desktop(), data_directory(environment) / FILE
    if desktop is not None and (written := desktop.get_password(SERVICE, ENTRY)):
        return read_keys(written, source="the desktop's keyring")
    if desktop is None or file.exists():
        return read_keys(_from_file(file), source=str(file))
    written = new_key()
    desktop.set_password(SERVICE, ENTRY, written)
    return read_keys(written, source="the desktop's keyring")


def read_keys(written: str, *, source: str) -> KeyRing:
    """The ring behind keys as they are written."""
    try:
        keys = [
            base64.b64decode(key, altchars=b"-_", validate=True) for key in written.replace(",", " ").split()
        ]
    except binascii.Error:
        keys = []
    if not keys or any(len(key) != KEY_BYTES for key in keys):
        raise VaultUnavailable(
            f"The vault's keys in {source} cannot be read. Each is what `askback vault key` prints, the newest first, "
            "with spaces between them."
        )
    return KeyRing(keys)


def _from_file(file: Path) -> str:
    """What the file says; it is made, for its owner alone, where it is not there."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            _make(file)
        _require_private(file)
        return file.read_text()
    except OSError as error:
        raise VaultUnavailable(
            f"The vault's key cannot be kept in {file}: {error.strerror}. Set {HOME} to a directory that can be "
            f"written to, or {VARIABLE}."
        ) from error


def _make(file: Path) -> None:
    """Whole or not at all, and the first one stands: several servers may start at once."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent) as draft:
        draft.write(new_key() + "\n")
        draft.flush()
        with suppress(FileExistsError):
            os.link(draft.name, file)
            logger.info("a key for the vault was made in %s", file)


def _require_private(file: Path) -> None:
    if os.name == "posix" and file.stat().st_mode & 0o077:
        raise VaultUnavailable(
            f"The vault's key in {file} can be read by others on this machine. Run `chmod 600 {file}`; if somebody may "
            "have read it, put a new key in front of it and run `askback vault rotate`."
        )


class _Desktop(Protocol):
    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> Any: ...


def _desktop() -> _Desktop | None:
    """The desktop's keyring, where the library for it is installed and there is a desktop."""
    try:
        import keyring
    except ImportError:
        return None
    found: Any = keyring.get_keyring()
    return found if found.priority >= 1 else None
