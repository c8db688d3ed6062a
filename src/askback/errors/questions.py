"""Errors on the side that asks: in a server, its questions, effects, visits and guards."""

from typing import Literal

from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, REQUEST_TIMEOUT

from askback.errors.roots import AskbackError, AuthorError, OperatorError, PeerError


class QuestionRefused(AuthorError):
    """A question that could never be shown to a person; refused when it is made."""

    def __init__(self, *, field: str | None, problem: str, instead: str) -> None:
        self.field, self.problem, self.instead = field, problem, instead
        where = f"Field {field!r}: " if field is not None else ""
        super().__init__(f"{where}{problem.rstrip('.')}. Instead: {instead.rstrip('.')}.")


def require(
    holds: object,
    *,
    field: str | None = None,
    problem: str,
    instead: str,
    error: type[QuestionRefused] = QuestionRefused,
) -> None:
    """Raise `QuestionRefused`, or the subclass given as `error`, unless something holds."""
    if not holds:
        raise error(field=field, problem=problem, instead=instead)


class SecretInForm(QuestionRefused):
    """A form passes the client and perhaps a model, so it must not ask for secrets."""


class LinkRefused(QuestionRefused):
    """A link that would reveal a credential or a person, or that others could read on its way."""


class OutsideConversation(AuthorError):
    """Asked where no tools/call, prompts/get or resources/read of an Askback server is being served."""


class NoTruthValue(AuthorError):
    """An answer was used as a truth value; a no would have counted as a yes."""

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"An answer is neither true nor false, and this {kind} was used as if it were: in if, while, and, or, not "
            "or bool(). Match it (case Accepted(value), Declined(), Cancelled()), take its value with .or_stop(...), "
            "or ask for a yes or no with confirm(...)."
        )


class NotAwaited(AuthorError):
    """A verb was called without `await`, so nothing happened."""

    def __init__(self, verb: str) -> None:
        self.verb = verb
        super().__init__(
            f"{verb}(...) was called without await, so nobody was asked and nothing was done. Write await {verb}(...); "
            f"in a body written with def, use askback.sync.{verb}(...)."
        )


class KeyTaken(AuthorError):
    """One key was used for two things in the same call."""

    def __init__(self, key: str, *, kind: str) -> None:
        self.key = key
        super().__init__(
            f"The key {key!r} of {kind}(...) is used twice in one call. Give each its own key, "
            f"for example f'{key}-{{number}}' in a loop."
        )


class KeysNeeded(AuthorError):
    """Questions were asked side by side without keys, so a replay could not tell them apart."""

    def __init__(self) -> None:
        super().__init__(
            "Two questions are open at the same time and at least one has no key, so a later round could not tell "
            "which answer belongs to which. Give each ask(...) in gather() or a task group its own key=, or ask "
            "them with ask_all({...})."
        )


class AskedInsideOnce(AuthorError):
    """`once` wraps one effect; a question inside it would repeat with it."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(
            f"The effect in once({key!r}, ...) asks a question. Ask first, then pass the answer to the effect."
        )


class NotRecordable(AuthorError):
    """A result of `once`, or a journal, that cannot be written as JSON."""

    def __init__(self, *, problem: str, instead: str) -> None:
        self.problem, self.instead = problem, instead
        super().__init__(f"{problem}. Instead: {instead}.")


class Drift(AuthorError):
    """On replay the body asked something else than it asked before, and then something else again."""

    def __init__(self, *, conversation: str, place: str, recorded: str, asked: str) -> None:
        self.conversation, self.place, self.recorded, self.asked = conversation, place, recorded, asked
        super().__init__(
            f"In conversation {conversation}, the question at {place!r} keeps changing: recorded {recorded!r}, "
            f"now asked {asked!r}. The body runs again from the top on every round, so it must ask the same things "
            "in the same order. Take what changes (the time, a random number, a row count) through once(...), and "
            "give questions in branches or loops a key=."
        )


class InstalledTwice(AuthorError):
    """A server has one Askback; a second would ask everything twice."""


class InvalidAnswer(PeerError):
    """Reply after reply did not fit the question."""

    def __init__(self, *, place: str, attempts: int, problems: str) -> None:
        self.place, self.attempts, self.problems = place, attempts, problems
        super().__init__(
            f"The question {place!r} was answered {attempts} times and no reply fitted it. The last problem: "
            f"{problems} Call again when the right values are at hand."
        )


class RoundRefused(PeerError):
    """A round that was answered before came with other answers, is an older one, or its result is no longer kept."""

    def __init__(
        self,
        text: str = "This round was answered before. Call again from the start.",
        reason: str = "used_round",
    ) -> None:
        super().__init__(text, data={"reason": reason})


class RoundForgotten(RoundRefused):
    """The store lost its data after this conversation began, so it is unknown which rounds were answered."""

    def __init__(self) -> None:
        super().__init__(
            "This server has lost its data about this call, so it is unknown whether it was carried out. Find out "
            "first. If it was not, call again from the start.",
            "lost_round",
        )


class UnsupportedHost(OperatorError):
    """Askback cannot be installed into this object, or with this version of the SDK."""


class StoreUnavailable(OperatorError):
    """The store cannot be reached or used; what depends on it is not done. The next call tries again."""

    def __init__(self, *, store: str, problem: str, advice: str) -> None:
        self.store, self.problem, self.advice = store, problem, advice
        end = "" if problem.endswith("?") else "."
        super().__init__(f"The store {store} cannot be used: {problem.rstrip('.')}{end} {advice}")


class CallerUnknown(OperatorError):
    """Over HTTP without authorization all callers look alike, and what is kept for one would reach another."""

    def __init__(self) -> None:
        super().__init__(
            "This call keeps something for its caller, and the caller is not known: over HTTP that takes "
            "authorization. Protect the server, or tell callers apart with Askback(server, caller=...)."
        )


class VisitorUnknown(OperatorError):
    """Pages take secrets, and nothing tells who opens them."""


class VaultUnavailable(OperatorError):
    """Secrets cannot be sealed or opened."""


class ProviderUnavailable(OperatorError):
    """A service that people connect with does not answer, or answers wrongly."""

    def __init__(self, provider: str, problem: str) -> None:
        self.provider, self.problem = provider, problem
        super().__init__(
            f"The provider {provider!r} cannot be used now: {problem.rstrip('.')}. Call again later; if it stays so, "
            "look at what Provider(...) says."
        )


class CannotAsk(AskbackError):
    """No person can be asked: the client, its revision or the transport cannot carry the question."""

    default_code = MISSING_REQUIRED_CLIENT_CAPABILITY

    def __init__(self, *, reason: str, advice: str, mode: str) -> None:
        self.reason, self.advice, self.mode = reason, advice, mode
        super().__init__(f"{reason} {advice}")


class TimedOut(AskbackError):
    """No answer, or no end of a visit, in the time the author gave. Not a `TimeoutError`: those get retried."""

    default_code = REQUEST_TIMEOUT
    advice = "Nobody answered the question {place!r} within {seconds:g} seconds. Call again when somebody is there."
    not_done = (
        "The person agreed to open the link and was not done there within {seconds:g} seconds. Call again when they "
        "have the time for it."
    )

    def __init__(self, *, place: str, seconds: float, has_agreed: bool = False) -> None:
        self.place, self.seconds = place, seconds
        if has_agreed:
            self.advice = self.not_done
        super().__init__(self.advice.format(place=place, seconds=seconds))


class StillOpen(TimedOut):
    """The person agreed to a visit that has not ended, and the client will not ask for its end by itself."""

    advice = (
        "The person has agreed to open the link and is not done there yet, and this client does not wait any longer. "
        "Nothing is lost: when they have finished on that page, make the same call again."
    )
    lost = (
        "The person has agreed to open the link and is not done there yet, and this client does not wait any longer. "
        "The caller is not known here, so the next call starts from the beginning. The operator can add authorization "
        "to the server, or name its callers with Askback(caller=...); then a later call finds what this one has left."
    )

    def __init__(self, *, place: str, seconds: float, lasts: bool = True) -> None:
        self.lasts = lasts
        """Whether a later call finds the visit that this one has left."""
        if not lasts:
            self.advice = self.lost
        super().__init__(place=place, seconds=seconds)


class VisitFailed(AskbackError):
    """The application settled a visit as failed; `reason` is its own text."""

    def __init__(self, *, place: str, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"What the person was sent to do did not work out: {reason}")


class VisitUnknown(AskbackError):
    """A visit that was never begun on this store, or is over for too long."""

    def __init__(self) -> None:
        super().__init__(
            "There is no such visit: it was never begun on this store, its time is over, or it made room for newer "
            "ones (max_visits=). Check that the id is the one from the link, and that whoever settles it uses the same "
            "store as the server that asked."
        )


class EffectFailed(AskbackError):
    """The function given to `once` raised. This is recorded, so that a replay fails alike instead of running it again.

    `text` is what the exception said. It is not part of the message, which may reach the client: it may hold anything.
    """

    def __init__(self, *, key: str, kind: str, text: str, within: float | None = None) -> None:
        self.key, self.kind, self.text, self.within = key, kind, text, within
        super().__init__(f"The effect {key!r} failed with {kind}. {UNKNOWN.get(kind) or _again(within)}")


INTERRUPTED, FORGOTTEN, MEMORY_LOST = "Interrupted", "Forgotten", "MemoryLost"

UNKNOWN = {
    INTERRUPTED: "It was begun and cut short, so it is unknown whether it happened. Find out before you call again.",
    FORGOTTEN: "It was run before, and its result is no longer kept. Look for what it did before you call again.",
    MEMORY_LOST: "The store has lost its data, so it is unknown whether it happened before. Find out first. If it did "
    "not happen, call again.",
}
"""Failures after which another call could run the effect a second time."""


def _again(within: float | None) -> str:
    if within is None:
        return "It was not tried again; make a new call to try it again."
    return (
        f"It was not tried again; the same call does not try it within {within:g} seconds of the first time."
    )


# What stops a run that is guarded

NotRun = Literal["declined", "cancelled", "timed out", "cannot ask", "unfit", "cannot be shown", "refused"]
"""Why a guarded call was not run. `refused` means that a rule said no and no person was asked."""

_WHY: dict[NotRun, str] = {
    "declined": "the person said no. That stands; do not try it again unless they ask for it",
    "cancelled": "the person put the question away without an answer. Call again when they are ready to decide",
    "timed out": "nobody answered in time. Call again when somebody is there",
    "cannot ask": "a person has to agree to it, and nobody can be asked here. Use a client that can show forms",
    "unfit": "no answer fitted the question. Call again when somebody can answer it",
    "cannot be shown": "a person has to see all of what they agree to, and this cannot be shown. Call again with less",
    "refused": "it may not be run here. Call something else",
}


class NotApproved(AskbackError):
    """A guarded call was not run, because it was not approved.

    `outcome` says why; if another error led to it, that error is the cause.
    """

    def __init__(self, *, tool: str, outcome: NotRun, reason: str = "") -> None:
        self.tool, self.outcome, self.reason = tool, outcome, reason
        why = f"{_WHY[outcome]}. {reason}".strip()
        super().__init__(f"{tool} was not run: {why if why.endswith(('.', '?', '!')) else f'{why}.'}")


class EstimateFailed(OperatorError):
    """The cost of a statement cannot be estimated, so the guard asks a person.

    `problem` is for the operator's log and may quote the engine; what to do about it is in `advice`.
    """

    def __init__(self, *, engine: str, problem: str, advice: str) -> None:
        self.engine, self.problem, self.advice = engine, problem, advice
        super().__init__(f"{engine} gives no estimate: {problem.rstrip('.')}. {advice}")


class ChangedSinceApproval(AskbackError):
    """A statement was not run, because what it touches changed after its approval."""

    def __init__(self) -> None:
        super().__init__(
            "The statement was not run: tables, views or functions that it uses were changed after it was approved. "
            "Send it once more; it is then judged as it is now."
        )
