"""Rules of a policy: which questions each names, and what becomes of those. Pure; knows no file and no person."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from askback.client.person import Asked, FormAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSo:
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


Outcome = AnswerSo | Decline | LeaveToPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
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
        """Whether this rule is about this question. While several calls are open, it has to name each of them."""
        return (
            self._is_of_kind(asked)
            and is_like(asked.asker.label, self.server)
            and all(is_like(purpose, self.purpose) for purpose in asked.purposes)
            and is_like(asked.message, self.message)
        )

    def can_settle(self, kind: Literal["form", "visit"]) -> bool:
        """Whether it could answer a question of this kind without a person."""
        if isinstance(self.outcome, LeaveToPerson) or (kind == "visit" and self.is_about_forms):
            return False
        return self.question in (None, kind)

    @property
    def is_about_forms(self) -> bool:
        """A visit has no fields, so a rule that speaks of any means forms."""
        return bool(self.fields) or isinstance(self.outcome, AnswerSo)

    def _is_of_kind(self, asked: Asked) -> bool:
        if not isinstance(asked, FormAsked):
            return self.question != "form" and not self.is_about_forms
        return self.question != "visit" and self.fields <= {entry.name for entry in asked.blank.entries}

    def __str__(self) -> str:
        return f"rule {self.number} ({self.name})" if self.name else f"rule {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an operator wrote: rules in order, of which the first that names a question holds."""

    file: str
    rules: tuple[Rule, ...]

    def rule_for(self, asked: Asked) -> Rule | None:
        return next((rule for rule in self.rules if rule.names(asked)), None)

    def word(self, rule: Rule) -> str:
        """On whose word an answer by this rule stands."""
        return f"policy {self.file}, {rule}"


def is_like(text: str, pattern: str | None) -> bool:
    """Whether the whole text is as the pattern says, in one pass: the text may be long and meant to harm."""
    if pattern is None:
        return True
    head, *rest = pattern.split("*")
    if not rest:
        return text == head
    *middle, tail = rest
    place, end = len(head), len(text) - len(tail)
    if place > end or not text.startswith(head) or not text.endswith(tail):
        return False
    for part in middle:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
