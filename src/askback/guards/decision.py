"""Whether something that is guarded may run. A person's yes to exactly these arguments in this call, or one that they
gave before and that still holds: nothing else is a yes, and whatever goes wrong on the way is a no."""

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
"""How often guards before one function may change what it runs with; each time the others are asked anew."""


async def run_guarded(
    guards: Sequence[GuardRule],
    *,
    tool: str,
    arguments: Arguments,
    run: Callable[[Arguments], Awaitable[T]],
    numbers: Sequence[int] = (),
) -> T:
    """What `run` gives, with the arguments that were approved; raises `NotApproved` where they were not.

    Args:
        guards: in their order; each may ask.
        tool: what would run, as the person knows it.
        arguments: all that it would run with, its defaults applied, and nothing that a host injects.
        run: called once, after the last of the guards has let it pass.
        numbers: of the guards among all that could stand there; without, among themselves.
    """
    conversation = current_conversation("guard(...)")
    inside = EFFECT.get()
    if inside is not None:
        raise AskedInsideOnce(inside)
    told = GuardRecord(conversation)
    numbered = list(zip(numbers or range(len(guards)), guards, strict=True))
    try:
        arguments, digest = await _agreed(conversation, numbered, tool, arguments, told)
        await told.write()
        _require_same(arguments, digest, tool)
        for rule in guards:
            if rule.on_approval is not None:
                rule.on_approval(arguments)
    except Exception:
        told.record_end(DID_NOT_RUN)
        raise
    try:
        result = await run(arguments)
    except BaseException as error:
        # A body that stops the call with its own words has come to its end; one that was left has not.
        if conversation.last_words is not None:
            told.record_end(RAN)
        elif not conversation.is_left and not isinstance(error, BodyLeft):
            told.record_end(RAISED)
        raise
    if not conversation.is_left:
        told.record_end(RAN)
    return result


async def _agreed(
    conversation: Conversation,
    guards: Sequence[tuple[int, GuardRule]],
    tool: str,
    arguments: Arguments,
    told: GuardRecord,
) -> tuple[Arguments, str]:
    """The arguments that all of them agree to, and their digest. Where one changes them, the others have agreed to
    something else."""
    waiting, passed = deque(guards), list[tuple[int, GuardRule]]()
    digest, changes = digest_of(dict(arguments)), 0
    while waiting:
        number, rule = waiting.popleft()
        run = GuardedRun(rule, number, tool, arguments, digest)
        try:
            case = await case_of(conversation, run)
        except NotApproved as refusal:
            told.record_refusal(run.place(conversation), str(refusal), run.facts, refusal.outcome)
            raise
        if case is not None:
            agreed = await consent_to(conversation, case, told)
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
