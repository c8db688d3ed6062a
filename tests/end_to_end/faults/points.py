"""The points at which a worker can be killed, each with a name that a page can say."""

import inspect
import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

from askback.model.once import is_interrupted
from askback.model.store import Reach
from askback.runtime.conversation_ids import LOSSES
from askback.runtime.effect_claims import RoundProgress
from askback.runtime.visits import ALIKE_PREFIX, PARKED_PREFIX, VISITS_OWNER
from askback.stores import Store

Side = Literal["before", "after"]

SIDES: tuple[Side, ...] = ("before", "after")


class Point(NamedTuple):
    """One moment of a flow."""

    stage: str
    """What the worker has read last."""
    deed: str
    side: Side
    turn: int
    """Which time it is that this is done in the stage, from 1."""

    def __str__(self) -> str:
        return f"{self.stage}: {self.side} {self.deed}"


@dataclass(slots=True)
class Fuse:
    """Counts the points as a worker comes by, and kills it at one of them: nothing is said or tidied up."""

    at: Point | None = None
    """None for a worker that lives."""
    tell: Callable[[Point], None] = lambda point: None
    """Hears of every point before anything happens there."""
    stage: str = "nothing"
    _passed: Counter[tuple[str, str, Side]] = field(
        default_factory=Counter[tuple[str, str, Side]], init=False
    )

    def pass_by(self, deed: str, side: Side) -> None:
        place = (self.stage, deed, side)
        self._passed[place] += 1
        point = Point(*place, self._passed[place])
        self.tell(point)
        if point == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


DEEDS: list[tuple[str, str, str]] = [
    ("epoch", "", "looking which memory the store has"),
    ("claim", "once:", "claiming the effect"),
    ("claim", "", "claiming the round"),
    ("record", "once:", "keeping what the effect gave"),
    ("record", "", "keeping how the round ended"),
    ("release", "", "giving a claim up"),
    ("put_capped", VISITS_OWNER, "opening the visit"),
    ("put_capped", ALIKE_PREFIX, "listing the visit"),
    ("put_capped", PARKED_PREFIX, "leaving the visit to later calls"),
    ("get", VISITS_OWNER, "finding the visit"),
    ("get", PARKED_PREFIX, "reading a visit that was left"),
    ("get", LOSSES, ""),
    ("rows", PARKED_PREFIX, "looking for visits that were left"),
    ("delete", PARKED_PREFIX, "taking the visit from those that were left"),
    ("settle", "visit:", "settling the visit"),
    ("settle", "visit-taken:", "taking what the visit brought"),
    ("wait", "", "waiting for the end of the visit"),
    ("append", "", "writing the ledger"),
    ("read", "", ""),
    ("spend", "askback/ledger/", ""),
    ("trim", "", ""),
]
"""A verb of the store, how its first argument begins, and what that is for.

What the ledger does by the way is for nothing that the flow waits for, and differs with its length and the hour.
Whether an epoch was lost is read behind the claim of an effect without `retry`, and changes nothing: to be killed there
is to be killed *after* that claim.
"""


class Faulty:
    """A store, with a point on both sides of every verb."""

    reach: Reach = "machine"
    """Whatever it is: one that a network shares is looked at now and then, which is at no point of the flow."""

    def __init__(self, store: Store, fuse: Fuse) -> None:
        self._store, self._fuse = store, fuse

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._store, name)
        return self._guarded(name, verb) if inspect.iscoroutinefunction(verb) else verb

    def _guarded(self, name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
        async def guarded(*args: Any, **options: Any) -> Any:
            deed = deed_of(name, *args, **options)
            if not deed:
                return await verb(*args, **options)
            self._fuse.pass_by(deed, "before")
            result = await verb(*args, **options)
            self._fuse.pass_by(deed, "after")
            return result

        return guarded


def faulty(store: Store, fuse: Fuse) -> Store:
    """Typed as what it stands for."""
    return cast("Store", Faulty(store, fuse))


def deed_of(verb: str, *args: Any, **options: Any) -> str:
    """Fails for a verb that nobody has said the purpose of: the page would not know what to call it."""
    if verb == "note":
        return _noting(*args)
    subject = options.get("prefix") or (args[0] if args else "")
    subject = getattr(subject, "key", subject)
    for name, begins, deed in DEEDS:
        if name == verb and (not begins or subject.startswith(begins)):
            return deed
    raise LookupError(f"Say in DEEDS what {verb}({subject!r}) is for.")


def _noting(_claim: object, noted: bytes) -> str:
    is_under_way = any(is_interrupted(effect) for effect in RoundProgress.from_bytes(noted).effects.values())
    return "noting that the effect begins" if is_under_way else "noting what the effect gave"
