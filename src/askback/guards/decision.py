"""Whether a guarded function may run. It may run if a person agreed to exactly these arguments in this call, or if an
earlier approval holds. Everything else, and every failure on the way, is a no."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from askback.errors import AskedInsideOnce, AuthorError, NotApproved
from askback.guards.arguments import digest_of
from askback.guards.cases import GuardedRun, case_of
from askback.guards.consent import GuardRecord, consent_to
from askback.guards.risk import Arguments
from askback.guards.rule import GuardRule
from askback.model.events import DID_NOT_RUN, RAISED, RAN
from askback.runtime.conversation import Conversation
from askback.runtime.current import EFFECT, BodyLeft, current_conversation

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
        _require_same(arguments, digest, tool)
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
            place = run.place(conversation)
            record.record(place, str(refusal), run.facts, reason=refusal.outcome)
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


def _require_same(arguments: Arguments, digest: str, tool: str) -> None:
    if digest_of(dict(arguments)) != digest:
        raise AuthorError(
            f"The arguments of {tool} changed while it was asked about them, so nothing ran. Give a guarded function "
            "values of its own: a copy of a list that others write to."
        )
