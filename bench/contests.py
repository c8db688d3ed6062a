"""What is measured against what, and how much of the other's time we may take. Targets are data."""

from dataclasses import dataclass
from itertools import product
from typing import Literal

from bench.connect import Revision, Transport
from bench.server import Side

Questions = Literal["nothing", "one", "five"]
Rival = Literal["without", "elicit", "resolver", "by-hand", "no-claims", "memory"]
Part = Literal["sdk", "fastmcp", "claims-in-memory", "claims-in-sqlite", "redis", "redis-without-ledger"]
"""What a contest is about: Askback on one of the hosts, or what a store adds to a round."""

SIDES: dict[Part, tuple[Side, Side]] = {
    "sdk": ("askback", "sdk"),
    "fastmcp": ("askback on fastmcp", "fastmcp"),
    "claims-in-memory": ("askback", "no claims"),
    "claims-in-sqlite": ("sqlite", "no claims"),
    "redis": ("redis", "askback"),
    "redis-without-ledger": ("redis without ledger", "askback"),
}
"""Our server and theirs."""

COUNT: dict[Questions, int] = {"nothing": 0, "one": 1, "five": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The most of the other side's time that we may take."""

    ratio: float
    by_estimate: bool = False
    """Judged by the estimate alone: between two equally fast sides, half of every interval lies above 1."""


NOT_SLOWER = Target(ratio=1.0, by_estimate=True)
ASKS_NOTHING = Target(ratio=1.06)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Our tool against another way to do the same."""

    transport: Transport
    revision: Revision
    questions: Questions
    rival: Rival
    target: Target | None
    part: Part = "sdk"
    in_new_words: bool = False
    """Each call asks with words never seen before, so that nothing kept for a message helps."""
    when_full: bool = False
    """The store has all the results that it keeps, so that an old one goes for each that comes."""

    @property
    def name(self) -> str:
        words = "-in-new-words" if self.in_new_words else ""
        full = "-when-full" if self.when_full else ""
        part = "" if self.part == "sdk" else f"/{self.part}"
        return f"{self.transport}{part}/{self.revision}/{self.questions}{words}{full}/{self.rival}"

    @property
    def needs_redis(self) -> bool:
        return self.part in ("redis", "redis-without-ledger")

    @property
    def their_tool(self) -> str:
        rival = self.rival.replace("-", "_")
        is_same = self.rival in ("without", "no-claims", "memory")
        return self.questions if is_same else f"{self.questions}_{rival}"


RIVALS: dict[Revision, tuple[Rival, ...]] = {
    "2025-11-25": ("elicit",),
    "2026-07-28": ("by-hand", "resolver"),
}
"""`ctx.elicit()` fails on 2026-07-28; the other two have their reason there."""

BY_HAND: dict[Questions, Target] = {"one": Target(ratio=1.1), "five": Target(ratio=1.15)}

IN_MEMORY: dict[tuple[Questions, Rival], Target] = {
    ("one", "elicit"): Target(ratio=0.75),
    ("five", "elicit"): Target(ratio=0.75),
    ("one", "resolver"): Target(ratio=0.5),
    ("five", "resolver"): Target(ratio=0.3),
}
"""In memory there is no transport to hide behind; over the others the promise is not to be slower than the SDK."""

TRANSPORTS: tuple[Transport, ...] = ("in-memory", "stdio", "http")
REVISIONS: tuple[Revision, ...] = ("2025-11-25", "2026-07-28")
ASKING: tuple[Questions, ...] = ("one", "five")


ON_FASTMCP: list[tuple[Revision, Questions, Rival, Target]] = [
    ("2025-11-25", "nothing", "without", ASKS_NOTHING),
    ("2025-11-25", "one", "elicit", IN_MEMORY["one", "elicit"]),
    ("2025-11-25", "five", "elicit", IN_MEMORY["five", "elicit"]),
    ("2026-07-28", "nothing", "without", ASKS_NOTHING),
    ("2026-07-28", "one", "by-hand", BY_HAND["one"]),
    ("2026-07-28", "five", "by-hand", BY_HAND["five"]),
]

OF_CLAIMS: list[tuple[Part, Target]] = [
    ("claims-in-memory", Target(ratio=1.05)),
    ("claims-in-sqlite", Target(ratio=1.25)),
]
"""Five questions, so that nearly every request is a round that is claimed."""

ON_REDIS: list[tuple[Part, Target | None]] = [
    ("redis", Target(ratio=1.4)),
    ("redis-without-ledger", None),
]
"""With keys and the ledger, which is what an operator gets; and without the ledger, to know where the time goes."""


def all_contests() -> list[Contest]:
    """In the order in which they are run and shown."""
    with_the_sdk = [
        contest
        for transport, revision in product(TRANSPORTS, REVISIONS)
        for contest in _contests(transport, revision)
    ]
    return [*with_the_sdk, *_on_redis(), *_on_fastmcp(), *_of_claims()]


def _on_redis() -> list[Contest]:
    """Against the same server with its store in memory, which has no ledger."""
    return [
        Contest(
            transport="http",
            revision="2026-07-28",
            questions=questions,
            rival="memory",
            target=target,
            part=part,
        )
        for part, target in ON_REDIS
        for questions in ASKING
    ]


def _on_fastmcp() -> list[Contest]:
    return [
        Contest(
            transport="in-memory",
            revision=revision,
            questions=questions,
            rival=rival,
            target=target,
            part="fastmcp",
        )
        for revision, questions, rival, target in ON_FASTMCP
    ]


def _of_claims() -> list[Contest]:
    return [
        Contest(
            transport="in-memory",
            revision="2026-07-28",
            questions="five",
            rival="no-claims",
            target=target,
            part=part,
        )
        for part, target in OF_CLAIMS
    ]


def _target(transport: Transport, questions: Questions, rival: Rival) -> Target:
    if rival == "by-hand":
        return BY_HAND[questions]
    return IN_MEMORY[questions, rival] if transport == "in-memory" else NOT_SLOWER


def _contests(transport: Transport, revision: Revision) -> list[Contest]:
    idle = Contest(
        transport=transport, revision=revision, questions="nothing", rival="without", target=ASKS_NOTHING
    )
    asking = [
        Contest(
            transport=transport,
            revision=revision,
            questions=questions,
            rival=rival,
            target=_target(transport, questions, rival),
        )
        for questions, rival in product(ASKING, RIVALS[revision])
    ]
    fresh = [
        Contest(
            transport=transport,
            revision=revision,
            questions="one",
            rival=rival,
            target=None,
            in_new_words=True,
        )
        for rival in RIVALS[revision][:1]
        if transport == "in-memory"
    ]
    full = [
        Contest(
            transport=transport, revision=revision, questions="one", rival=rival, target=None, when_full=True
        )
        for rival in RIVALS[revision]
        if transport == "in-memory" and revision == "2026-07-28"
    ]
    return [idle, *asking, *fresh, *full]
