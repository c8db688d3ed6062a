"""The keys of a ledger. From each key of the operator three are derived: for lines, heads and digests. The first key
seals; the others verify older lines after a rotation."""

import base64
import hmac
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from askback.errors import OperatorError
from askback.ledger.codec import canonical_json

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
