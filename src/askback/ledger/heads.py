"""Heads: where every chain of the ledger ends, sealed, to be kept off the machine. Who cuts the end of the ledger off
later cannot hide it from whoever has one of these."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from askback.errors import OperatorError
from askback.ledger.codec import UnreadableLine, canonical_json, read_object
from askback.ledger.keys import LedgerKey, LedgerKeyRing


class Head(NamedTuple):
    """The last line of one writer."""

    n: int
    mac: str
    number: int
    """In the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """Of all writers that have lines in the store, at one time."""

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
        record = {"at": self.at, "last": self.last, "key": self.key, "writers": self.writers, "mac": self.mac}
        return json.dumps(record)


def seal_heads(writers: Mapping[str, Head], *, last: int, at: float, key: LedgerKey) -> Heads:
    """The heads as they are now."""
    unsealed = Heads(at=at, last=last, key=key.id, writers=dict(writers), mac="")
    return Heads(at=at, last=last, key=key.id, writers=unsealed.writers, mac=key.seal_heads(_body(unsealed)))


def read_heads(written: str) -> Heads:
    """From a file. Whether they are genuine shows when the ledger is verified against them."""
    try:
        found = read_object(written.encode())
        return Heads(
            at=float(found["at"]),
            last=int(found["last"]),
            key=str(found["key"]),
            writers={writer: _head(row) for writer, row in found["writers"].items()},
            mac=str(found["mac"]),
        )
    except (UnreadableLine, KeyError, TypeError, ValueError, AttributeError) as error:
        raise OperatorError(
            "These are no heads of a ledger. `askback ledger heads` makes them; keep each as it was printed."
        ) from error


def _head(row: Any) -> Head:
    n, mac, number = row
    return Head(int(n), str(mac), int(number))


def _body(heads: Heads) -> bytes:
    return canonical_json([heads.at, heads.last, heads.key, heads.writers])
