"""Whether a line is sealed with a key of ours, as far as the line alone can tell."""

import hmac
import re
from typing import Literal

from askback.ledger.chain import LedgerLine
from askback.ledger.keys import LedgerKeyRing

SealStatus = Literal["sealed", "changed", "renamed", "unnamed", "keyless"]
"""Sealed with a key that is here; its words are not those that were sealed; sealed with a key that is here under the
name of another; under a name that no key has; or with a key that is not here, of which nothing more is known."""

_ID = re.compile(r"[0-9a-f]{16}")
"""As `Key.id` is written."""


def judge_seal(line: LedgerLine, ring: LedgerKeyRing) -> SealStatus:
    """Tell a key that is not here from the id of one that was never there, where the line shows it."""
    key = ring.find(line.key)
    if key is not None:
        return "sealed" if hmac.compare_digest(key.seal(line.body), line.mac) else "changed"
    if not _ID.fullmatch(line.key):
        return "unnamed"
    return "renamed" if _is_sealed_under_another_name(line, ring) else "keyless"


def _is_sealed_under_another_name(line: LedgerLine, ring: LedgerKeyRing) -> bool:
    named = f'"k":"{line.key}"'.encode()
    bodies = ((key, line.body.replace(named, f'"k":"{key.id}"'.encode(), 1)) for key in ring)
    return any(hmac.compare_digest(key.seal(body), line.mac) for key, body in bodies)
