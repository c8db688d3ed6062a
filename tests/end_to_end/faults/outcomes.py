"""What may become of a flow whose worker is killed: done, asked again, or refused. Anything else is a fault of ours."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from tests.end_to_end.faults.client import PUSH, ROUNDS
from tests.end_to_end.faults.points import Point
from tests.end_to_end.faults.runs import Points, Terms
from tests.end_to_end.faults.shop import PAY, RESULT, SIZE, STARS, TOPPING
from tests.support.paths import ROOT

BOUND = 150.0
"""Seconds for all runs on one store; on two idle cores they take ten."""

INTERRUPTED = (
    "The effect 'bake' failed with Interrupted. It was begun and cut short, so it is unknown whether it happened. "
    "Find out before you call again."
)
"""The one refusal, and what to do then."""

FLOWS = [
    *(Terms(ROUNDS, retry, within=False) for retry in (False, True)),
    *(Terms(PUSH, retry, within=True) for retry in (False, True)),
    *(Terms(ROUNDS, retry, within=True) for retry in (False, True)),
]
"""On the push era a call that is made anew knows nothing of the one before, unless the author gave `within`."""

Kind = Literal["done", "asked again", "refused"]


class Outcome(NamedTuple):
    """How it ended, and how often the effect happened."""

    kind: Kind
    effects: int


class Unaccountable(AssertionError):
    """It ended in none of the three ways."""


Found = dict[Terms, dict[Point, Outcome]]


def find_out(url: str, flows: Sequence[Terms] = FLOWS, *, points: Points = "verbs") -> Found:
    """Every flow, killed at every point, on that store."""
    command = [sys.executable, "-m", "tests.end_to_end.faults.runs", points, url, *map(json.dumps, flows)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=BOUND, check=False)
    if done.returncode:
        raise Unaccountable(done.stderr)
    told = json.loads(done.stdout)
    if told["ledger"]:
        raise Unaccountable(f"the ledger does not verify: {told['ledger']}")
    found: Found = {terms: {} for terms in flows}
    for run in told["runs"]:
        if run["died"] or points == "verbs":
            found[Terms(*run["terms"])][Point(*run["at"])] = outcome_of(run)
    return found


def outcome_of(run: dict[str, Any]) -> Outcome:
    """Raises `Unaccountable`."""
    terms, at, baked = Terms(*run["terms"]), Point(*run["at"]), run["baked"]
    kind = kind_of(run)
    # Who lets an effect be tried again has said that twice is as good as once.
    most = 2 if terms.retry else 1
    least = 0 if kind == "refused" else 1
    is_recorded = kind == "refused" or not run["unrecorded"]
    if run["died"] and kind is not None and is_recorded and least <= baked <= most:
        return Outcome(kind, baked)
    raise Unaccountable(f"{terms} was killed at {at}: {run}")


def kind_of(run: dict[str, Any]) -> Kind | None:
    match run["end"]:
        case {"isError": False, "content": [{"text": text}]} if text == RESULT:
            shown = [run["shown"].get(message, 0) for message in (SIZE, TOPPING, PAY, STARS)]
            if min(shown) < 1:
                return None
            return "done" if max(shown) == 1 else "asked again"
        case {"isError": True, "content": [{"text": text}]} if text == INTERRUPTED:
            return None if run["terms"][1] else "refused"
        case _:
            return None
