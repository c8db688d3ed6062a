"""Rules of a policy: which questions each names, and what becomes of those. Pure; knows no file and no person.

A server writes the texts that rules are compared with. A rule that answers compares them exactly, so that nothing else
is answered. A rule that declines or leaves a question to a person compares them as a reader would: letter case, width,
accents, invisible characters and look-alike letters make no difference, so that no spelling gets around it.

While several calls are open, nobody can tell which of them a question belongs to. A rule that answers has to name all
of them; for a rule that declines or leaves it to a person, one of them is enough.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from askback.client.person import Asked, FormAsked
from askback.client.policy.patterns import are_alike, is_like, resembles


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWith:
    """Send these values; nothing else is sent unless the form's own defaults are asked for."""

    values: Mapping[str, Any]
    with_defaults: bool = False
    secrets: frozenset[str] = frozenset()
    """Fields that may be answered although they seem to ask for a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decline:
    """Say no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveToPerson:
    """Neither yes nor no: whoever stands behind the policy is asked."""


Outcome = AnswerWith | Decline | LeaveToPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """What is not given holds for every question. In texts, `*` stands for anything and all else for itself."""

    number: int
    outcome: Outcome
    name: str | None = None
    server: str | None = None
    """The label that the operator gave the server: the one word here that the server cannot choose."""
    purpose: str | None = None
    message: str | None = None
    fields: frozenset[str] = field(default=frozenset())
    """The form has these, and perhaps others."""
    question: Literal["form", "visit"] | None = None

    def names(self, asked: Asked) -> bool:
        """Whether this rule is about this question."""
        fits = is_like if isinstance(self.outcome, AnswerWith) else resembles
        return (
            self._is_of_kind(asked)
            and is_like(asked.asker.label, self.server)
            and self._names_calls(asked.purposes)
            and fits(asked.message, self.message)
        )

    def can_settle(self, kind: Literal["form", "visit"]) -> bool:
        """Whether it could answer a question of this kind without a person."""
        if isinstance(self.outcome, LeaveToPerson) or (kind == "visit" and self.is_about_forms):
            return False
        return self.question in (None, kind)

    @property
    def is_about_forms(self) -> bool:
        """A visit has no fields, so a rule that speaks of any means forms."""
        return bool(self.fields) or isinstance(self.outcome, AnswerWith)

    def _names_calls(self, purposes: tuple[str, ...]) -> bool:
        if isinstance(self.outcome, AnswerWith):
            return all(is_like(purpose, self.purpose) for purpose in purposes)
        return self.purpose is None or any(resembles(purpose, self.purpose) for purpose in purposes)

    def _is_of_kind(self, asked: Asked) -> bool:
        if not isinstance(asked, FormAsked):
            return self.question != "form" and not self.is_about_forms
        return self.question != "visit" and self._has_fields({entry.name for entry in asked.blank.entries})

    def _has_fields(self, names: set[str]) -> bool:
        if isinstance(self.outcome, AnswerWith):
            return self.fields <= names
        return all(any(are_alike(name, field) for name in names) for field in self.fields)

    def __str__(self) -> str:
        return f"rule {self.number} ({self.name})" if self.name else f"rule {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an operator wrote: rules in order, of which the first that names a question holds."""

    file: str
    rules: tuple[PolicyRule, ...]

    def rule_for(self, asked: Asked) -> PolicyRule | None:
        return next((rule for rule in self.rules if rule.names(asked)), None)

    def word(self, rule: PolicyRule) -> str:
        """On whose word an answer by this rule stands."""
        return f"policy {self.file}, {rule}"
