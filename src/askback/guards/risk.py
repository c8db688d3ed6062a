"""What a guard has to say about one run: the question, the facts behind it, and the ways to say yes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Arguments = Mapping[str, Any]
"""What a function runs with, by name, its defaults applied; nothing that a host injects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskOption:
    """Another way to say yes."""

    value: str
    """One word, for the wire and the ledger: "limit"."""
    title: str
    """What it does, in words for the person: "Run it for at most 1,000 rows"."""
    change: Callable[[Arguments], Arguments]
    """From the arguments that were asked about to those that it then runs with; what it leaves out stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Why a person is asked."""

    message: str
    """The question. Web addresses in it are shown so that nobody can click them; all else is shown as it is."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is known, in JSON, for the ledger."""
    options: tuple[RiskOption, ...] = ()
    covers: str | None = None
    """What a lasting approval covers, in words; without, the tool with these arguments, or with its key."""
    scope: str = ""
    """A digest of what else the question depends on, such as a catalogue: with another one, approvals do not hold."""
    yes: str | None = None
    """What to call a yes to this one run."""
    no: str | None = None
