"""The keys of a ledger, and the JSON that they seal, which is read back strictly.

From each key of the operator three are derived: for lines, heads and digests. The first key seals; the others verify
older lines after a rotation.
"""

import base64
import hmac
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic_core import to_jsonable_python

from askback.errors import OperatorError
from askback.schema.size import exceeds_depth

MAX_LINE_DEPTH = 500
"""A message has at most some 200 levels, and each Python version can read this many."""

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class UnreadableLine(ValueError):
    """A line that the ledger does not write; the text says what is wrong with it."""


def compact_json(value: object) -> bytes:
    """Compact JSON with keys in the given order. Characters that could move a terminal are escaped."""
    text = _COMPACT.encode(value)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else _escape(char) for char in text)
    return text.encode()


def canonical_json(value: object) -> bytes:
    """Equal values give equal bytes: sorted keys, ASCII only."""
    return _CANONICAL.encode(to_plain(value)).encode()


def to_plain(value: object) -> Any:
    """The value as plain JSON types; a number that JSON cannot hold becomes null."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=str)


def read_object(written: bytes) -> dict[str, Any]:
    """Read one object. A name that occurs twice is refused, because two readers could understand it differently."""
    try:
        found: object = json.loads(
            written.decode(), object_pairs_hook=_unique_members, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise UnreadableLine("it is no JSON") from error
    if exceeds_depth(found, MAX_LINE_DEPTH):
        raise UnreadableLine("it is nested too deeply")
    if not isinstance(found, dict):
        raise UnreadableLine("it is no JSON object")
    return cast("dict[str, Any]", found)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if char <= "\uffff" else json.dumps(char)[1:-1]


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)


Keys = Sequence[bytes | bytearray | str]
"""As `Askback(keys=...)` takes them, the newest first."""

VARIABLE = "ASKBACK_LEDGER_KEYS"
"""The environment variable with the keys, with spaces between them; bytes that are not text as `base64:...`."""

MIN_KEY_BYTES = 32

ENCODED = "base64:"


class LedgerKey(NamedTuple):
    """The keys that were derived from one key of the operator."""

    id: str
    """Identifies the key without revealing it."""
    chain: bytes
    heads: bytes
    answers: bytes

    def seal(self, body: bytes) -> str:
        """The mac of a line."""
        return hmac.digest(self.chain, body, "sha256").hex()

    def seal_heads(self, body: bytes) -> str:
        return hmac.digest(self.heads, body, "sha256").hex()

    def digest_of(self, content: object, *, call: str, place: str | None) -> str:
        """A keyed digest of an answer. Without the key, a short answer cannot be found by trying."""
        return hmac.digest(self.answers, canonical_json([call, place, content]), "sha256").hex()


class LedgerKeyRing:
    """The keys by their ids."""

    def __init__(self, keys: Keys) -> None:
        if isinstance(keys, str | bytes | bytearray):
            raise OperatorError("The keys of a ledger are a list, the newest first: Ledger(store, [key]).")
        derived = [_derive(key.encode() if isinstance(key, str) else bytes(key)) for key in keys]
        if not derived:
            raise OperatorError("A ledger needs a key to seal its lines with: Ledger(store, [key]).")
        self.first = derived[0]
        self._all = {key.id: key for key in derived}

    def find(self, id: str) -> LedgerKey | None:
        return self._all.get(id)

    def __iter__(self) -> Iterator[LedgerKey]:
        return iter(self._all.values())


def known_keys(file: Path | None, environment: Mapping[str, str] = os.environ) -> Keys | None:
    """The keys for a command: from a file with one key in each line, or from the environment; None if there are none.

    They are never arguments of a command, because other users of the machine can read those.
    """
    if file is None:
        return _decode(environment.get(VARIABLE, "").split(), source=VARIABLE) or None
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "it is not text"
        raise OperatorError(f"The keys in {file} cannot be read: {problem}. Check --keys-file.") from error
    keys = _decode(filter(None, map(str.strip, lines)), source=str(file))
    if not keys:
        raise OperatorError(f"There is no key in {file}. Write one in each line, the newest first.")
    return keys


def _decode(words: Iterable[str], *, source: str) -> list[bytes]:
    try:
        return [
            base64.b64decode(word.removeprefix(ENCODED), validate=True)
            if word.startswith(ENCODED)
            else word.encode()
            for word in words
        ]
    except ValueError as error:
        raise OperatorError(
            f"A key in {source} begins with {ENCODED}, and what follows is not base64. Write the key again."
        ) from error


def _derive(key: bytes) -> LedgerKey:
    if len(key) < MIN_KEY_BYTES:
        raise OperatorError(
            f"A key of the ledger has {len(key)} bytes, and could be guessed. Give it {MIN_KEY_BYTES} or more: "
            "secrets.token_urlsafe(32) makes one."
        )
    chain = hmac.digest(key, b"askback ledger chain", "sha256")
    return LedgerKey(
        id=sha256(b"askback ledger key\0" + chain).hexdigest()[:16],
        chain=chain,
        heads=hmac.digest(key, b"askback ledger heads", "sha256"),
        answers=hmac.digest(key, b"askback ledger answers", "sha256"),
    )
