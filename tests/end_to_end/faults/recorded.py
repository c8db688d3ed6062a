"""What the ledger knows of each flow: nothing that happened is missing from it, whoever was killed."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from askback.ledger import Ledger, LedgerLine
from askback.stores import Store
from tests.end_to_end.faults.shop import KEYS

Entries = set[tuple[str, str]]
"""An event and its place. A round that was taken over, or a call that was made anew, may have written it twice."""


async def read_ledger(store: Store) -> tuple[list[str], dict[str, Entries]]:
    """What is wrong with it, and what it says, by the digest of a call's arguments."""
    ledger = Ledger(store, KEYS)
    report = await ledger.verify()
    lines = [line async for line in ledger.entries() if line.kind == "entry"]
    await ledger.close()
    return [str(problem) for problem in report.problems], _by_arguments(lines)


def _by_arguments(lines: Iterable[LedgerLine]) -> dict[str, Entries]:
    """Whoever ends a visit from outside knows its call, and not with which arguments that was made."""
    of_call = {line.record["call"]: line.record["arguments"] for line in lines if "arguments" in line.record}
    found: dict[str, Entries] = {}
    for line in lines:
        entry = line.record
        if entry["call"] in of_call:
            found.setdefault(of_call[entry["call"]], set()).add((entry["event"], entry.get("place", "")))
    return found


def digest_of(arguments: Mapping[str, Any]) -> str:
    return sha256(json.dumps(arguments, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
