"""The numbered requirements and threats of requirements.toml, and which of them a test names."""

import tomllib
from dataclasses import dataclass
from typing import Literal

import pytest

from tests.support.paths import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    state: Literal["shown", "later"]
    text: str


def _read() -> dict[str, Requirement]:
    listed = tomllib.loads((ROOT / "tests" / "requirements.toml").read_text())
    return {number: Requirement(**line) for number, line in listed.items()}


REQUIREMENTS = _read()


def named_by(item: pytest.Item) -> set[str]:
    """The numbers in every `verifies` mark on the test, its class and its module."""
    return {str(number) for mark in item.iter_markers("verifies") for number in mark.args}
