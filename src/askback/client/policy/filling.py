"""A form filled in by a rule: the values it gives, if they fit and the rule may give them."""

from typing import Any

from askback.client.forms import Draft, FormEntry
from askback.client.person import FormAsked
from askback.client.policy.rules import AnswerWith


class DoesNotFit(ValueError):
    """The rule names this question, and its answer cannot be sent; the problems in words."""


def content_of(outcome: AnswerWith, asked: FormAsked) -> dict[str, Any]:
    """What is sent. Fields that the rule does not name are left out, or keep their defaults if it says so."""
    blank = asked.blank
    if blank.refusal is not None:
        raise DoesNotFit(blank.refusal)
    if unknown := sorted(outcome.values.keys() - {entry.name for entry in blank.entries}):
        raise DoesNotFit(f"the form has no field {unknown[0]!r}; it has {_listed(blank.entries)}")
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
    """Whatever seems to be a secret is sent only where the rule says so for that field."""
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


def _listed(entries: tuple[FormEntry, ...]) -> str:
    return ", ".join(entry.name for entry in entries) or "none"
