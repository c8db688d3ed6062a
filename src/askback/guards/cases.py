"""One guard before one run: the question, its place in the conversation, and what an approval would cover."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from askback.errors import NotApproved
from askback.guards.arguments import Arguments, Risk, digest_of
from askback.guards.rule import ApprovalOffer, GuardRule, fieldset_for, require_options
from askback.guards.templates import defang, render_value
from askback.runtime.approvals import Scope
from askback.runtime.carrier import PlacedQuestion
from askback.runtime.conversation import Conversation
from askback.schema.forms import MAX_MESSAGE_LENGTH, form_of

PLACE = "guard-{name}:{digest}"
SHORT = 20
"""Characters of a digest in a place; places are compared within one call only."""

MAX_LINES = 400
"""Lines of a question. Our own terminal and desk leave out what comes after."""


class GuardedRun(NamedTuple):
    """What would run, and which guard is asked about it."""

    rule: GuardRule
    number: int
    """The guard's position among the guards of one function."""
    tool: str
    arguments: Arguments
    digest: str
    """The digest of exactly these arguments."""

    @property
    def identity(self) -> str:
        return digest_of([*self.rule.identity, self.number, self.tool])

    @property
    def facts(self) -> dict[str, Any]:
        """What the ledger records about it."""
        return {"tool": self.tool, "arguments": self.digest}

    def place(self, conversation: Conversation, depends: str = "") -> str:
        """The question's place in the conversation, stable on every pass. A second run with equal arguments has another
        place, so it is asked about separately."""
        digest = digest_of([conversation.context.request.target, self.identity, self.digest, depends])
        first = place = PLACE.format(name=self.rule.name or self.tool, digest=digest[:SHORT])
        count = 1
        while conversation.has_asked_at(place):
            count += 1
            place = f"{first}-{count}"
        return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run that needs the agreement of a person. It is made on every pass, from the current arguments."""

    run: GuardedRun
    risk: Risk
    offers: tuple[ApprovalOffer, ...]
    scope: Scope
    covers: str
    """In words, what a lasting approval would be for."""
    put: PlacedQuestion

    @property
    def place(self) -> str:
        return self.put.place

    @property
    def message(self) -> str:
        return self.put.question.message

    @property
    def facts(self) -> dict[str, Any]:
        return {**self.risk.facts, **self.run.facts}


async def case_of(conversation: Conversation, run: GuardedRun) -> Case | None:
    """The case to ask about; None if this guard has nothing to ask."""
    context, (rule, _, tool, arguments, _) = conversation.context, run
    words, owner, target = context.server.policy.words, context.caller.owner, context.request.target
    risk = await rule.assess(tool, arguments, words)
    if risk is None:
        return None
    require_options(risk)
    key = await rule.find_key(tool, arguments)
    # An approval of an unknown caller would hold for strangers too, so lasting ones are not offered.
    offers = tuple(offer for offer in rule.offers if offer.seconds is None or owner)
    template = words.guard_covers_key if key.words else words.guard_covers
    covers = risk.covers or template.format(tool=render_value(tool), key=key.words)
    form = form_of(_message(risk, tool), fieldset_for(risk, offers, covers, words))
    return Case(
        run=run,
        risk=risk,
        offers=offers,
        scope=Scope(owner, context.server.name, target, run.identity, key.digest, risk.scope),
        covers=covers,
        put=conversation.place(form, key=run.place(conversation, risk.scope), seconds=rule.seconds),
    )


def _message(risk: Risk, tool: str) -> str:
    """The text of the question. A person agrees to what they see, so a text that is too long is refused, never cut."""
    message = defang(risk.message)
    sizes = (len(message), MAX_MESSAGE_LENGTH, "characters"), (message.count("\n") + 1, MAX_LINES, "lines")
    for size, most, unit in sizes:
        if size > most:
            raise NotApproved(
                tool=tool,
                outcome="cannot be shown",
                reason=f"The question would have {size} {unit}, and {most} is the most.",
            )
    return message
