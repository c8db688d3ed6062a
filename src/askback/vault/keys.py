"""Where the keys of a vault come from: the environment, the desktop's keyring, or a file that only its owner can read.
Keyring and file are used only by servers for the person at this machine."""

import base64
import logging
import os
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from askback.errors import OperatorError, VaultUnavailable
from askback.vault.keyring import KEY_BYTES, KeyRing

logger = logging.getLogger("askback")

VARIABLE = "ASKBACK_VAULT_KEYS"
"""The variable with the keys, as `askback vault key` prints them: the newest first, separated by spaces or commas."""

HOME = "ASKBACK_HOME"
"""The variable that names a directory for local keys and the embedded vault, in place of the usual one."""

USUAL = {"win32": ("LOCALAPPDATA", "~/AppData/Local")}
"""By platform: the variable that names the usual directory, and the directory if it is not set."""

SERVICE, ENTRY = "askback", "vault keys"
"""The names in the desktop's keyring."""

FILE, LOCK = "vault.keys", "vault.lock"

LOCK_TIMEOUT = 60.0
"""Seconds for which one server waits while another makes the key: its desktop may be asking the person."""


def data_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """The directory in which this user's programs keep their data."""
    variable, otherwise = USUAL.get(sys.platform, ("XDG_DATA_HOME", "~/.local/share"))
    usual = Path(environment.get(variable) or otherwise) / "askback"
    try:
        return Path(environment.get(HOME) or usual).expanduser()
    except RuntimeError as error:
        raise VaultUnavailable(
            f"The home directory of this user is not known, so the vault has no place. Set {HOME} to a directory."
        ) from error


def new_key() -> str:
    """A random key, as text."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode()


def find_keys(*, is_local: bool, environment: Mapping[str, str] = os.environ) -> KeyRing:
    """The keys of this server. For a server on this machine, a key is made if there is none."""
    if not is_local and not environment.get(VARIABLE, "").strip():
        raise VaultUnavailable(
            f"A server that others reach keeps its vault's keys in the environment: set {VARIABLE} to what `askback "
            "vault key` prints, the same for all its workers."
        )
    found = known_keys(environment)
    if found is not None:
        return found
    with _alone(data_directory(environment)) as directory:
        found = known_keys(environment)  # another server may have been faster
        return found or read_keys(_put_in_front(directory / FILE), source="a moment ago")


def add_key(environment: Mapping[str, str] = os.environ) -> None:
    """Put a new key in front of the keys of this machine, which stay behind it."""
    if environment.get(VARIABLE, "").strip():
        raise OperatorError(
            f"The keys come from {VARIABLE}, so a new one must be put there: what `askback vault key` prints, in front "
            "of the others, for all servers."
        )
    known_keys(environment)  # nothing is put before what cannot be read
    with _alone(data_directory(environment)) as directory:
        _put_in_front(directory / FILE)


def known_keys(environment: Mapping[str, str] = os.environ) -> KeyRing | None:
    """The keys that exist; None if no key was made yet."""
    if written := environment.get(VARIABLE, "").strip():
        return read_keys(written, source=VARIABLE)
    file = data_directory(environment) / FILE
    in_file = _from_file(file)
    on_desktop = _from_desktop(is_needed=in_file is None)
    kept = {"the desktop's keyring": on_desktop, str(file): in_file}
    found = {source: keys for source, keys in kept.items() if keys is not None}
    return read_keys(" ".join(found.values()), source=" and ".join(found)) if found else None


def read_keys(written: str, *, source: str) -> KeyRing:
    """The keys in a text. `source` says in errors where the text is from."""
    try:
        keys = [
            base64.b64decode(key, altchars=b"-_", validate=True) for key in written.replace(",", " ").split()
        ]
    except ValueError:
        keys = []
    if not keys or any(len(key) != KEY_BYTES for key in keys):
        raise VaultUnavailable(
            f"The vault's keys in {source} cannot be read. Each is what `askback vault key` prints, the newest first, "
            "with spaces between them."
        )
    return KeyRing(keys)


@contextmanager
def _alone(directory: Path) -> Generator[Path]:
    """The directory, readable only by its owner, while no other server makes a key there."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(directory)
        # A lock that ends with its process, on every system.
        with closing(sqlite3.connect(directory / LOCK, timeout=LOCK_TIMEOUT, isolation_level=None)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield directory
    except (OSError, sqlite3.Error) as error:
        raise _unkept(directory, error) from error


def _from_file(file: Path) -> str | None:
    """The keys in the file, if it exists."""
    try:
        with file.open() as opened:
            _require_private(file, os.fstat(opened.fileno()))
            _require_own(file.parent)
            return opened.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unkept(file, error) from error


def _put_in_front(file: Path) -> str:
    """Make a new key, in the desktop's keyring or in a file, which is replaced as a whole."""
    written = new_key()
    if (desktop := _desktop()) is not None:
        before = _from_desktop(is_needed=True)
        with _explained():
            desktop.set_password(SERVICE, ENTRY, " ".join(filter(None, (written, before))))
        return written
    before = _from_file(file) or ""
    draft, name = tempfile.mkstemp(dir=file.parent)  # of mode 0600
    with os.fdopen(draft, "w") as out:
        out.write(f"{written}\n{before}")
    os.replace(name, file)
    logger.info("a key for the vault was made in %s", file)
    return written


def _unkept(where: Path, error: Exception) -> VaultUnavailable:
    problem = getattr(error, "strerror", None) or str(error)
    return VaultUnavailable(
        f"The vault's key cannot be kept in {where}: {problem}. Set {HOME} to a directory that can be written to, or "
        f"{VARIABLE}."
    )


def _require_own(directory: Path) -> None:
    """Refuse a directory in which other users could replace our file. In a sticky directory they cannot."""
    if os.name != "posix":
        return
    mode = directory.stat().st_mode
    if mode & (stat.S_IWGRP | stat.S_IWOTH) and not mode & stat.S_ISVTX:
        raise VaultUnavailable(
            f"The vault's key is to be in {directory}, and others on this machine can write there, so they could "
            f"exchange it. Run `chmod go-w {directory}`, or set {HOME} to a directory of your own."
        )


def _require_private(file: Path, found: os.stat_result) -> None:
    if os.name != "posix":
        return
    if found.st_uid != os.geteuid():
        raise VaultUnavailable(
            f"The vault's key in {file} belongs to another user, who knows it. Run this as that user, or set {HOME} to "
            "a directory of your own."
        )
    if found.st_mode & 0o077:
        raise VaultUnavailable(
            f"The vault's key in {file} can be read by others on this machine. Run `chmod 600 {file}`; if somebody may "
            "have read it, put a new key in front of it and run `askback vault rotate`."
        )


def _from_desktop(*, is_needed: bool) -> str | None:
    """The keys in the desktop's keyring. If it does not answer, it may hold the key, so no other key is made."""
    desktop = _desktop()
    if desktop is None:
        return None
    try:
        with _explained():
            return desktop.get_password(SERVICE, ENTRY) or None
    except VaultUnavailable:
        if is_needed:
            raise
        return None


def _desktop() -> Any:
    """The desktop's keyring; None if the library for it is not installed, or if there is no desktop."""
    try:
        import keyring
    except ImportError:
        return None
    found: Any = keyring.get_keyring()
    return found if found.priority >= 1 else None


@contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except Exception as error:  # backends raise what their system does, and not the library's errors alone
        raise VaultUnavailable(
            f"The desktop's keyring does not give the vault's key ({type(error).__name__}: {error}). Unlock it; or do "
            f"without it: set {VARIABLE}, or PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring to have the key in a "
            "file."
        ) from error
