"""A yes or a no to one case: from the person, or from what they said before."""

from collections.abc import Mapping
from typing import Any, Literal, NoReturn, cast

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.errors import AskbackError, CannotAsk, InvalidAnswer, NotApproved, NotRun, TimedOut
from askback.guards.arguments import digest_of
from askback.guards.cases import Case
from askback.guards.offers import CONVERSATION, NO, ONCE, ApprovalOffer
from askback.guards.risk import Arguments
from askback.model.events import CallEvent, describe_guard_decision, describe_guard_outcome
from askback.model.journal import Action
from askback.model.texts import Words
from askback.runtime.conversation import Conversation

Facts = Mapping[str, Any]
Ending = Literal["ran", "raised", "did not run"]


class GuardRecord:
    """Of all guards before one run, in one pass."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._approved: list[str] = []

    def record_approval(
        self,
        place: str,
        message: str,
        facts: Facts,
        rule: str,
        *,
        word: str | None,
        action: Action | None = "accept",
    ) -> None:
        """This guard lets it run."""
        self._approved.append(place)
        self._decided(
            rule,
            describe_guard_decision(place, message=message, facts=facts, word=word, action=action, rule=rule),
        )

    def record_refusal(
        self,
        place: str,
        message: str,
        facts: Facts,
        reason: str,
        *,
        word: str | None = "server",
        action: Action | None = None,
    ) -> None:
        """This guard does not, and so those before it have said yes in vain."""
        self._decided(
            reason,
            describe_guard_decision(
                place, message=message, facts=facts, word=word, action=action, reason=reason
            ),
        )

    async def write(self) -> None:
        """What was agreed to is on record before it is done."""
        witness = self._conversation.setting.witness
        if self._approved and witness is not None:
            await witness.flush()

    def record_end(self, ending: Ending) -> None:
        """What was guarded is over."""
        for place in self._approved:
            decision, *ended = self._conversation.noted(place)
            if not ended:
                self._tell([decision, ending], describe_guard_outcome(place, ending))

    def _decided(self, decision: str, happening: CallEvent) -> None:
        noted = self._conversation.noted(happening.place or "")
        if noted is None or noted[0] != decision:
            self._tell([decision], happening)

    def _tell(self, note: list[str], happening: CallEvent) -> None:
        self._conversation.note(happening.place or "", note)
        witness = self._conversation.setting.witness
        if witness is not None:
            witness.emit(happening)


_NOBODY: dict[type[AskbackError], NotRun] = {
    CannotAsk: "cannot ask",
    TimedOut: "timed out",
    InvalidAnswer: "unfit",
}
"""Errors that mean that nobody said anything. All others are raised as they are, and nothing runs either."""

_LEDGER = Words()
"""The ledger is in one language, whatever the person's is."""


async def consent_to(conversation: Conversation, case: Case, told: GuardRecord) -> Arguments | None:
    """Returns where it may run: with other arguments, if the person chose so. Raises `NotApproved` where it may not."""
    # What was asked in this very call is for the person to answer, whatever they said elsewhere meanwhile.
    if not conversation.was_put(case.place) and (earlier := await _approved_before(conversation, case)):
        rule, word = earlier
        told.record_approval(case.place, case.message, case.facts, rule, word=word)
        return None
    try:
        answer = await conversation.ask(case.put)
    except tuple(_NOBODY) as error:
        return _unanswered(case, told, _outcome_of(error), cause=error)
    return await _answered(conversation, case, told, answer)


def _outcome_of(error: AskbackError) -> NotRun:
    """A client that had the question and answered with an error may have shown it: nobody knows what was said."""
    if isinstance(error, CannotAsk) and error.__cause__ is not None:
        return "unfit"
    return next(outcome for kind, outcome in _NOBODY.items() if isinstance(error, kind))


async def _approved_before(conversation: Conversation, case: Case) -> tuple[str, str | None] | None:
    """By which approval it may run, and on whose word; in this call first."""
    if case.scope.name in conversation.agreed:
        return CONVERSATION, "client"
    if not any(offer.seconds is not None for offer in case.offers):
        return None  # what is offered no longer does not hold either
    approval = await conversation.setting.approvals.find(case.scope)
    return None if approval is None else (f"approval of {approval.call}", approval.word)


async def _answered(
    conversation: Conversation, case: Case, told: GuardRecord, answer: Answer[dict[str, object]]
) -> Arguments | None:
    word = conversation.word_at(case.place) or "client"
    match answer:
        case Accepted({"yes": True}):
            decision = ONCE
        case Accepted({"decision": str(value)}):
            decision = value
        case Cancelled():
            return _unanswered(case, told, "cancelled", word=word)
        case Accepted() | Declined():
            decision = NO
    option = next((one for one in case.risk.options if one.value == decision), None)
    offer = next((one for one in case.offers if one.value == decision), None)
    if decision != ONCE and option is None and offer is None:
        action: Action = "accept" if isinstance(answer, Accepted) else "decline"
        _refuse(case, told, "declined", word=word, action=action)
    given = case.run.arguments
    changed = None if option is None else {**given, **option.change(given)}
    await _keep(conversation, case, offer, word)
    facts = case.facts if changed is None else {**case.facts, "runs with": digest_of(dict(changed))}
    told.record_approval(case.place, case.message, facts, _rule(decision, offer), word=word)
    return changed


async def _keep(conversation: Conversation, case: Case, offer: ApprovalOffer | None, word: str) -> None:
    """In the store before anything is run on it, for as long as the person chose: once per call."""
    if offer is not None and offer.seconds is None:
        conversation.agreed.add(case.scope.name)
    setting, kept = conversation.setting, f"kept {case.place}"
    if conversation.noted(kept):
        return
    call = await setting.conversation_id()
    if offer is None or offer.seconds is None:
        await setting.approvals.record_consent(call, case.place, seconds=setting.think_time)
    else:
        await setting.approvals.grant(
            case.scope,
            seconds=offer.seconds,
            covers=case.covers,
            message=case.message,
            call=call,
            place=case.place,
            remembered=setting.think_time,
            word=word,
        )
    conversation.note(kept, True)


def _unanswered(
    case: Case,
    told: GuardRecord,
    outcome: NotRun,
    *,
    word: str | None = None,
    cause: AskbackError | None = None,
) -> None:
    """Nobody said yes, nor no: a no, unless the operator wrote otherwise."""
    action = cast("Action", "cancel") if outcome == "cancelled" else None
    if outcome not in case.run.rule.even_if:
        _refuse(case, told, outcome, word=word, action=action, cause=cause)
    told.record_approval(
        case.place, case.message, case.facts, f"even if {outcome}", word="server", action=action
    )


def _refuse(
    case: Case,
    told: GuardRecord,
    outcome: NotRun,
    *,
    word: str | None,
    action: Action | None,
    cause: AskbackError | None = None,
) -> NoReturn:
    told.record_refusal(case.place, case.message, case.facts, outcome, word=word, action=action)
    reason = cause.reason if isinstance(cause, CannotAsk) else ""
    raise NotApproved(tool=case.run.tool, outcome=outcome, reason=reason) from cause


def _rule(decision: str, offer: ApprovalOffer | None) -> str:
    return decision if offer is None or offer.seconds is None else f"for {_LEDGER.length(offer.seconds)}"
