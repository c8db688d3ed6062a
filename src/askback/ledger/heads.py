"""Heads: where each chain of the ledger ends, sealed, to be kept on another machine. Who has an earlier head notices
when the end of the ledger was cut off."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from askback.errors import OperatorError
from askback.ledger.codec import canonical_json
from askback.ledger.keys import LedgerKey, LedgerKeyRing


class Head(NamedTuple):
    """The last line of one writer."""

    n: int
    mac: str
    number: int
    """In the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The heads of all writers in the store, at one time."""

    at: float
    last: int
    """The number of the store's last line."""
    key: str
    writers: Mapping[str, Head]
    mac: str

    def is_genuine(self, ring: LedgerKeyRing) -> bool:
        key = ring.find(self.key)
        if key is None:
            raise OperatorError(
                f"The head was made with the key {self.key}, which is not here. Put that key behind the others."
            )
        return hmac.compare_digest(key.seal_heads(_body(self)), self.mac)

    def to_json(self) -> str:
        """One line, for a file."""
        return json.dumps(asdict(self))


def seal_heads(writers: Mapping[str, Head], *, last: int, at: float, key: LedgerKey) -> Heads:
    """Make the heads of now."""
    unsealed = Heads(at=at, last=last, key=key.id, writers=dict(writers), mac="")
    return replace(unsealed, mac=key.seal_heads(_body(unsealed)))


def read_heads(written: str) -> Heads:
    """Read heads from the text of a file. `Ledger.verify(heads)` checks whether they are genuine."""
    try:
        return _HEADS.validate_json(written)
    except ValidationError as error:
        raise OperatorError(
            "This is not the head of a ledger. `askback ledger heads` prints one; keep it as it was printed."
        ) from error


def _body(heads: Heads) -> bytes:
    return canonical_json([heads.at, heads.last, heads.key, heads.writers])


_HEADS = TypeAdapter(Heads)
