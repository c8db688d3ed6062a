"""A person that follows a policy: it answers what a rule names, on the operator's word, and nothing else."""

import logging
from typing import Any, Literal

import anyio

from askback.answers import Accepted, Answer, Declined
from askback.client.forms import Draft, FormEntry
from askback.client.labels import MAX_REPEATED_LENGTH
from askback.client.person import Asked, FormAsked, Mode, Person, Turn, VisitAsked, VisitReply, channel_of
from askback.client.policy.rules import AnswerWith, Decline, LeaveToPerson, Policy, PolicyRule
from askback.errors import Unanswered
from askback.model.safe import safe_line


class DoesNotFit(ValueError):
    """The rule names this question, and its answer cannot be sent; the problems in words."""


def content_of(outcome: AnswerWith, asked: FormAsked) -> dict[str, Any]:
    """The values to send. Fields that the rule does not name are left out, or keep their defaults if it says so."""
    blank = asked.blank
    if blank.refusal is not None:
        raise DoesNotFit(blank.refusal)
    known = ", ".join(entry.name for entry in blank.entries) or "none"
    if unknown := sorted(outcome.values.keys() - {entry.name for entry in blank.entries}):
        raise DoesNotFit(f"the form has no field {unknown[0]!r}; it has {known}")
    draft = _draft(outcome, asked)
    sent = [entry for entry in blank.entries if outcome.with_defaults or entry.name in outcome.values]
    if suspects := _suspects(outcome, asked, draft, sent):
        raise DoesNotFit("; ".join(suspects))
    if problems := draft.problems():
        raise DoesNotFit("; ".join(f"{name}: {problem.rstrip('.')}" for name, problem in problems.items()))
    named = {entry.name for entry in sent}
    return {name: value for name, value in draft.content().items() if name in named}


def _draft(outcome: AnswerWith, asked: FormAsked) -> Draft:
    draft = Draft(asked.blank)
    for entry in asked.blank.entries:
        if entry.name in outcome.values or not outcome.with_defaults:
            draft.set(entry.name, outcome.values.get(entry.name))
    for name in outcome.secrets & {entry.name for entry in asked.blank.entries}:
        draft.excuse(name)
    return draft


def _suspects(outcome: AnswerWith, asked: FormAsked, draft: Draft, sent: list[FormEntry]) -> list[str]:
    """Why fields seem to be secrets: those are sent only where the rule allows it for that field."""
    around = asked.blank.suspicion_around(asked.message)
    stops = draft.stops()
    found: list[str] = []
    for entry in sent:
        why = entry.suspicion or stops.get(entry.name) or (around if entry.field.is_typed else None)
        if why and entry.name not in outcome.secrets:
            found.append(
                f"{entry.name}: {why.rstrip('.')} (if it may be sent, write secrets = [{entry.name!r}] in the rule)"
            )
    return found


logger = logging.getLogger(__name__)


class PolicyPerson:
    """Follows a policy. What no rule names, and what a rule leaves to a person, goes to `otherwise`.

    Without `otherwise` that is `Unanswered`, which ends the call: a policy never guesses an answer.
    """

    channel = "policy"

    def __init__(self, policy: Policy, otherwise: Person | None = None) -> None:
        self.policy = policy
        self.otherwise = otherwise

    @property
    def modes(self) -> frozenset[Mode]:
        """What some rule can settle, and what the person behind the policy can be shown."""
        rules = self.policy.rules
        behind: frozenset[Mode] = self.otherwise.modes if self.otherwise else frozenset()
        kinds: tuple[tuple[Mode, Literal["form", "visit"]], ...] = (("form", "form"), ("url", "visit"))
        return behind.union(mode for mode, kind in kinds if any(rule.can_settle(kind) for rule in rules))

    @property
    def shows_several(self) -> bool:
        return self.otherwise is None or self.otherwise.shows_several

    async def answer(self, turn: Turn) -> Answer[Any]:
        """Answer as the first rule says that names the question; `turn.by` then names the rule."""
        rule = self.policy.rule_for(turn.asked)
        if rule is None:
            return await self._leave(turn, f"No rule of the policy {self.policy.file} names")
        match rule.outcome:
            case AnswerWith() as outcome:
                return await self._fill(turn, rule, outcome)
            case Decline():
                self._sign(turn, rule, "declines")
                return Declined()
            case LeaveToPerson():
                return await self._leave(turn, f"The {self.policy.word(rule)} leaves to a person")

    async def wait(self, asked: VisitAsked, finished: anyio.Event) -> VisitReply:
        """Only the person who opened the page can say how it went; a policy opens none."""
        return await self.otherwise.wait(asked, finished) if self.otherwise else "cancel"

    async def _fill(self, turn: Turn, rule: PolicyRule, outcome: AnswerWith) -> Answer[Any]:
        assert isinstance(turn.asked, FormAsked), "a rule that answers names forms alone"
        try:
            content = content_of(outcome, turn.asked)
        except DoesNotFit as problem:
            said = safe_line(str(problem), 1_000)
            return await self._leave(turn, f"The {self.policy.word(rule)} cannot answer ({said})")
        self._sign(turn, rule, "answers")
        return Accepted(content)

    async def _leave(self, turn: Turn, why: str) -> Answer[Any]:
        mode: Mode = "form" if isinstance(turn.asked, FormAsked) else "url"
        if self.otherwise is not None and mode in self.otherwise.modes:
            logger.info("%s %s: a person is asked", why, _describe(turn.asked))
            turn.channel = channel_of(self.otherwise)
            return await self.otherwise.answer(turn)
        raise Unanswered(
            f"{why} {_describe(turn.asked)}, and no person is here to answer it. "
            "Add or mend a rule for it, or run this where a person can answer."
        )

    def _sign(self, turn: Turn, rule: PolicyRule, does: str) -> None:
        turn.by = self.policy.word(rule)
        # Without the file name, which only the operator needs; and the question was not shown to a person.
        turn.channel, turn.rule, turn.shown_at = self.channel, str(rule), None
        logger.info("%s %s %s", turn.by, does, _describe(turn.asked))


def _describe(asked: Asked) -> str:
    """The question in a line: its message may hold anything, so it is made safe for a log."""
    message = safe_line(asked.message, MAX_REPEATED_LENGTH)
    return f"“{message}” of {safe_line(asked.asker.label)} ({safe_line(asked.purpose)})"
