"""How tests ended, and where two runs of the same tests differ."""

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ACCEPTED = Path(__file__).parent / "accepted.toml"

NOT_RUN = "not run"
BAD = frozenset({"failed", "error"})


class Outcome(NamedTuple):
    """How one test ended: passed, failed, error, skipped; and what was printed if it did not pass."""

    what: str
    text: str = ""


Outcomes = Mapping[str, Outcome]
"""By the tests' ids."""


class Difference(NamedTuple):
    """A test that ends otherwise with the line."""

    test: str
    plain: Outcome
    added: Outcome

    def __str__(self) -> str:
        return f"{self.test}: {self.plain.what}, with the line {self.added.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Tests of one suite that may end otherwise, and why. A test without its parameters stands for all of them."""

    suite: str
    reason: str
    tests: tuple[str, ...]


def read_outcomes(file: Path) -> Outcomes:
    """A test may tell of its set-up, its call and its end: the worst of them counts."""
    found: dict[str, Outcome] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        told = json.loads(line)
        if found.get(told["test"], Outcome("")).what not in BAD:
            found[told["test"]] = Outcome(told["outcome"], told["text"])
    return found


def differences(plain: Outcomes, added: Outcomes) -> list[Difference]:
    missing = Outcome(NOT_RUN)
    both = ((test, plain.get(test, missing), added.get(test, missing)) for test in sorted({*plain, *added}))
    return [Difference(*one) for one in both if one[1].what != one[2].what]


def read_accepted(suite: str) -> list[Accepted]:
    listed = tomllib.loads(ACCEPTED.read_text())["difference"]
    every = (Accepted(suite=one["suite"], reason=one["reason"], tests=tuple(one["tests"])) for one in listed)
    return [one for one in every if one.suite == suite]


def unlisted(found: Iterable[Difference], accepted: Collection[Accepted]) -> list[Difference]:
    """The differences that nobody has accepted."""
    listed = {test for one in accepted for test in one.tests}
    return [one for one in found if listed.isdisjoint(_names(one.test))]


def outlived(found: Iterable[Difference], accepted: Collection[Accepted]) -> list[str]:
    """The tests on the list that end alike."""
    differ = {name for one in found for name in _names(one.test)}
    return [test for one in accepted for test in one.tests if test not in differ]


def _names(test: str) -> tuple[str, str]:
    """A test as it may stand on the list: with its parameters, and without."""
    return test, test.partition("[")[0]
