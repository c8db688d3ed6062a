"""What a guard asks about one run: the question, the facts behind it, and the ways to say yes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Arguments = Mapping[str, Any]
"""Arguments by name, with defaults applied and without those that a host injects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskOption:
    """Another way to say yes."""

    value: str
    """One word, for the wire and the ledger: "limit"."""
    title: str
    """What it does, in words for the person: "Run it for at most 1,000 rows"."""
    change: Callable[[Arguments], Arguments]
    """Returns the changed arguments, given all of them; arguments that it leaves out stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Why a person is asked."""

    message: str
    """The question. Web addresses in it are broken so that nobody can click them; the rest is shown as it is."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Facts for the ledger, as JSON."""
    options: tuple[RiskOption, ...] = ()
    covers: str | None = None
    """What a lasting approval covers, in words; by default the tool with these arguments, or with its key."""
    scope: str = ""
    """A digest of what else the question depends on, such as a catalogue. If it changes, approvals no longer hold."""
    yes: str | None = None
    """The label of a yes to this one run."""
    no: str | None = None
