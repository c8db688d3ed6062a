"""Whether a guarded function may run. It may run if a person agreed to exactly these arguments in this call, or if an
earlier approval holds. Everything else, and every failure on the way, is a no. The audit holds what was decided."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeVar, cast

from askback.answers import Accepted, Answer, Cancelled, Declined
from askback.errors import (
    AskbackError,
    AskedInsideOnce,
    AuthorError,
    CannotAsk,
    InvalidAnswer,
    NotApproved,
    NotRun,
    TimedOut,
)
from askback.guards.arguments import Arguments, digest_of
from askback.guards.cases import Case, GuardedRun, case_of
from askback.guards.rule import CONVERSATION, NO, ONCE, ApprovalOffer, GuardRule
from askback.model.events import (
    DID_NOT_RUN,
    RAISED,
    RAN,
    CallEvent,
    describe_guard_decision,
    describe_guard_outcome,
)
from askback.model.journal import Action
from askback.model.texts import Words
from askback.runtime.conversation import Conversation
from askback.runtime.current import EFFECT, BodyLeft, current_conversation

Facts = Mapping[str, Any]
Ending = Literal["ran", "raised", "did not run"]


class GuardRecord:
    """What the guards of one run leave in the audit: how each decided, and how the run ended. Each event is written
    once for a call, however often the body is replayed."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation, self._events = conversation, conversation.context.events
        self._approved: list[str] = []

    def record(
        self,
        place: str,
        message: str,
        facts: Facts,
        *,
        rule: str | None = None,
        reason: str | None = None,
        word: str | None = "server",
        action: Action | None = None,
    ) -> None:
        """A guard lets the run pass by a `rule`, or refuses it for a `reason`."""
        if rule is not None:
            self._approved.append(place)
        noted, decision = self._conversation.noted(place), rule or reason
        if noted is None or noted[0] != decision:
            event = describe_guard_decision(
                place, message=message, facts=facts, word=word, action=action, rule=rule, reason=reason
            )
            self._emit([decision], event)

    async def flush(self) -> None:
        """An approval is in the audit before anything runs on it."""
        if self._approved and self._events is not None:
            await self._events.flush()

    def record_end(self, ending: Ending) -> None:
        """How the run ended, for each guard that let it pass."""
        for place in self._approved:
            decision, *ended = self._conversation.noted(place)
            if not ended:
                self._emit([decision, ending], describe_guard_outcome(place, ending))

    def _emit(self, note: list[str | None], event: CallEvent) -> None:
        self._conversation.note(event.place or "", note)
        if self._events is not None:
            self._events.emit(event)


_UNANSWERED: dict[type[AskbackError], NotRun] = {
    CannotAsk: "cannot ask",
    TimedOut: "timed out",
    InvalidAnswer: "unfit",
}
"""Errors that mean that no person answered. All others are raised as they are, and nothing runs either."""

_LEDGER = Words()
"""The ledger is in one language, whatever the person's is."""


async def consent_to(conversation: Conversation, case: Case, record: GuardRecord) -> Arguments | None:
    """Returns if the run may go on: the changed arguments if the person chose so, else None. Raises `NotApproved`."""
    # A question of this very call is answered by the person, whatever they approved elsewhere meanwhile.
    if not conversation.was_put(case.place) and (earlier := await _approved_before(conversation, case)):
        rule, word = earlier
        record.record(case.place, case.message, case.facts, rule=rule, word=word, action="accept")
        return None
    try:
        answer = await conversation.ask_placed(case.put)
    except tuple(_UNANSWERED) as error:
        return _unanswered(case, record, _outcome_of(error), cause=error)
    return await _answered(conversation, case, record, answer)


def _outcome_of(error: AskbackError) -> NotRun:
    """A client that received the question and returned an error may have shown it, so the answer is unknown."""
    if isinstance(error, CannotAsk) and error.__cause__ is not None:
        return "unfit"
    return next(outcome for kind, outcome in _UNANSWERED.items() if isinstance(error, kind))


async def _approved_before(conversation: Conversation, case: Case) -> tuple[str, str | None] | None:
    """The approval by which it may run, and on whose word; one of this call first."""
    if case.scope.name in conversation.agreed:
        return CONVERSATION, "client"
    if not any(offer.seconds is not None for offer in case.offers):
        return None  # approvals of a kind that the author no longer offers do not hold
    approval = await conversation.context.approvals.find(case.scope)
    return None if approval is None else (f"approval of {approval.call}", approval.word)


async def _answered(
    conversation: Conversation, case: Case, record: GuardRecord, answer: Answer[dict[str, object]]
) -> Arguments | None:
    word = conversation.word_at(case.place) or "client"
    match answer:
        case Accepted({"yes": True}):
            decision = ONCE
        case Accepted({"decision": str(value)}):
            decision = value
        case Cancelled():
            return _unanswered(case, record, "cancelled", word=word)
        case Accepted() | Declined():
            decision = NO
    option = next((one for one in case.risk.options if one.value == decision), None)
    offer = next((one for one in case.offers if one.value == decision), None)
    if decision != ONCE and option is None and offer is None:
        action: Action = "accept" if isinstance(answer, Accepted) else "decline"
        _refuse(case, record, "declined", word=word, action=action)
    given, facts = case.run.arguments, case.facts
    changed = None if option is None else {**given, **option.change(given)}
    await _store(conversation, case, offer, word)
    if changed is not None:
        facts = {**facts, "runs with": digest_of(changed)}
    rule = decision if offer is None or offer.seconds is None else f"for {_LEDGER.length(offer.seconds)}"
    record.record(case.place, case.message, facts, rule=rule, word=word, action="accept")
    return changed


async def _store(conversation: Conversation, case: Case, offer: ApprovalOffer | None, word: str) -> None:
    """Store the approval once per call, before anything runs on it."""
    if offer is not None and offer.seconds is None:
        conversation.agreed.add(case.scope.name)
    context, stored = conversation.context, f"kept {case.place}"
    if conversation.noted(stored):
        return
    call, think_time = await context.conversation_id(), context.server.policy.think_time
    if offer is None or offer.seconds is None:
        await context.approvals.record_consent(call, case.place, seconds=think_time)
    else:
        await context.approvals.grant(
            case.scope,
            seconds=offer.seconds,
            covers=case.covers,
            message=case.message,
            call=call,
            place=case.place,
            remembered=think_time,
            word=word,
        )
    conversation.note(stored, True)


def _unanswered(
    case: Case,
    record: GuardRecord,
    outcome: NotRun,
    *,
    word: str | None = None,
    cause: AskbackError | None = None,
) -> None:
    """No person said yes or no. That is a no, unless the author wrote otherwise with `even_if=`."""
    action = cast("Action", "cancel") if outcome == "cancelled" else None
    if outcome not in case.run.rule.even_if:
        _refuse(case, record, outcome, word=word, action=action, cause=cause)
    record.record(case.place, case.message, case.facts, rule=f"even if {outcome}", action=action)


def _refuse(
    case: Case,
    record: GuardRecord,
    outcome: NotRun,
    *,
    word: str | None,
    action: Action | None,
    cause: AskbackError | None = None,
) -> NoReturn:
    record.record(case.place, case.message, case.facts, reason=outcome, word=word, action=action)
    reason = cause.reason if isinstance(cause, CannotAsk) else ""
    raise NotApproved(tool=case.run.tool, outcome=outcome, reason=reason) from cause


T = TypeVar("T")

MAX_CHANGES = 10
"""How often the guards of one function may change its arguments; after each change the other guards ask again."""


async def run_guarded(
    guards: Sequence[GuardRule],
    *,
    tool: str,
    arguments: Arguments,
    run: Callable[[Arguments], Awaitable[T]],
    numbers: Sequence[int] = (),
) -> T:
    """Call `run` with the approved arguments and return its result; raises `NotApproved`.

    Args:
        guards: in the order in which they ask.
        tool: the name of the function, as the person knows it.
        arguments: all arguments, with defaults applied and without those that a host injects.
        run: called once, after the last guard has let it pass.
        numbers: the guards' positions among all guards of the server, if these are only some of them.
    """
    conversation = current_conversation("guard(...)")
    inside = EFFECT.get()
    if inside is not None:
        raise AskedInsideOnce(inside)
    record = GuardRecord(conversation)
    numbered = list(zip(numbers or range(len(guards)), guards, strict=True))
    try:
        arguments, digest = await _agreed(conversation, numbered, tool, arguments, record)
        await record.flush()
        if digest_of(dict(arguments)) != digest:
            raise AuthorError(
                f"The arguments of {tool} changed while it was asked about them, so nothing ran. Give a guarded "
                "function values of its own: a copy of a list that others write to."
            )
        for rule in guards:
            if rule.on_approval is not None:
                rule.on_approval(arguments)
    except Exception:
        record.record_end(DID_NOT_RUN)
        raise
    try:
        result = await run(arguments)
    except BaseException as error:
        # A body that ended the call with an answer of its own has run; one that was left for a question has not.
        if conversation.last_words is not None:
            record.record_end(RAN)
        elif not conversation.is_left and not isinstance(error, BodyLeft):
            record.record_end(RAISED)
        raise
    if not conversation.is_left:
        record.record_end(RAN)
    return result


async def _agreed(
    conversation: Conversation,
    guards: Sequence[tuple[int, GuardRule]],
    tool: str,
    arguments: Arguments,
    record: GuardRecord,
) -> tuple[Arguments, str]:
    """The arguments that all guards let pass, and their digest. If one guard changes them, the others ask again."""
    waiting, passed = deque(guards), list[tuple[int, GuardRule]]()
    digest, changes = digest_of(dict(arguments)), 0
    while waiting:
        number, rule = waiting.popleft()
        run = GuardedRun(rule, number, tool, arguments, digest)
        try:
            case = await case_of(conversation, run)
        except NotApproved as refusal:
            record.record(run.place(conversation), str(refusal), run.facts, reason=refusal.outcome)
            raise
        if case is not None:
            agreed = await consent_to(conversation, case, record)
            if agreed is not None:
                arguments, digest, changes = agreed, digest_of(dict(agreed)), changes + 1
                waiting.extend(passed)
                passed.clear()
        passed.append((number, rule))
        if changes > MAX_CHANGES:
            raise AuthorError(
                f"The guards of {tool} keep changing what it would run with, each after the other, so nothing ran. Let "
                "one of them offer such options."
            )
    return arguments, digest
