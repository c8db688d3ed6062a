"""Everything Askback raises, and whose move is next.

    AskbackError
    ├── AuthorError              the tool's code must change
    │   ├── QuestionRefused      a question that could never be shown
    │   │   ├── SecretInForm     a form that fishes for secrets
    │   │   └── LinkRefused      a link that carries what a link must not
    │   ├── OutsideConversation  asked where no call is being served
    │   ├── KeyTaken             one key for two things in one call
    │   ├── KeysNeeded           asked side by side without keys
    │   ├── AskedInsideOnce      a question inside an effect
    │   ├── NotRecordable        a result the journal cannot hold
    │   ├── Drift                on replay the body asked something else, twice
    │   ├── InstalledTwice       a second Askback on one server
    │   ├── AnswerRefused        an answer that does not fit what was asked, on the client's side
    │   └── ConnectionMustLive   a call that is to be left and taken up later, where the protocol cannot do that
    ├── PeerError                the other side broke what it promised
    │   ├── InvalidAnswer        replies kept not fitting the question
    │   ├── RoundRefused         a round that was used before came again
    │   ├── NotUnderstood        a server said what its revision of the protocol does not know
    │   ├── TooManyQuestions     a server that does not stop asking
    │   └── ServerGone           the server went away during a call
    ├── OperatorError            the set-up must change
    │   ├── UnsupportedHost      this server, or this SDK version, cannot carry us
    │   ├── StoreUnavailable     what must be kept cannot be written down or looked up
    │   ├── CallerUnknown        nobody tells who calls, and something is to be kept for the caller
    │   ├── Unguarded            pages on which nobody could tell who is at the door
    │   ├── VaultUnavailable     secrets that cannot be sealed or opened
    │   ├── ProviderUnavailable  a service to connect with that cannot be reached, or is not what it says
    │   ├── CannotConnect        a server that does not start, or does not answer
    │   └── PolicyRefused        a policy file that cannot be followed
    ├── CannotAsk                nobody can be asked here
    ├── TimedOut                 nobody answered in time
    │   └── StillOpen            the person has agreed to go, and the client waits no longer
    ├── VisitFailed              what the person was sent to do did not work out
    ├── VisitUnknown             a visit to be settled that was never begun, or was long ago
    ├── EffectFailed             what `once` ran has raised
    ├── Unanswered               a question reached us, and nobody answers it
    ├── NotVisited               the person did not go where the call needs them to go
    └── Unfinished               a call took longer than it may

All derive from `MCPError`, which the SDK's servers pass on as it is: so an error that the author leaves uncaught
reaches the middleware whole, and the client reads our text instead of "Error executing tool".
"""

from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY, REQUEST_TIMEOUT


class AskbackWarning(UserWarning):
    """Something works but is likely not what its author meant."""


class AskbackError(MCPError):
    """The root; `str()` is advice that can be shown as it is."""

    default_code: int = INTERNAL_ERROR

    def __init__(self, advice: str, *, data: Any = None) -> None:
        super().__init__(self.default_code, advice, data)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (type(self), self.args, self.__dict__))


def _restore(kind: type[AskbackError], args: tuple[Any, ...], fields: dict[str, Any]) -> AskbackError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class AuthorError(AskbackError):
    """The code that asks must change; no retry helps."""


def own_error(error: BaseException | None) -> AskbackError | None:
    """Ours, also where a task group or a host wrapped it. A mere context does not count: that one was handled."""
    if error is None or isinstance(error, AskbackError):
        return error
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return next((ours for inner in group.exceptions if (ours := own_error(inner)) is not None), None)
    return own_error(error.__cause__)


class QuestionRefused(AuthorError):
    """A question that no person could be shown, refused when it is made."""

    def __init__(self, *, field: str | None, problem: str, instead: str) -> None:
        self.field, self.problem, self.instead = field, problem, instead
        where = f"Field {field!r}: " if field is not None else ""
        super().__init__(f"{where}{problem.rstrip('.')}. Instead: {instead.rstrip('.')}.")


class SecretInForm(QuestionRefused):
    """A form passes the client and perhaps a model, so it must not ask for secrets."""


class LinkRefused(QuestionRefused):
    """A link that would give away a credential or a person, or that anybody could read on its way."""


class OutsideConversation(AuthorError):
    """Asked where no tools/call, prompts/get or resources/read of an Askback server is being served."""


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
    """A `once` result or a journal that cannot be written down."""

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


class AnswerRefused(AuthorError):
    """What a program, a policy or a script gave for an answer does not fit the question; nothing was sent."""

    def __init__(self, *, question: str, problems: str) -> None:
        self.question, self.problems = question, problems
        super().__init__(
            f"The answer to {question!r} does not fit what was asked: {problems.rstrip('.')}. Nothing was sent."
        )


class ConnectionMustLive(AuthorError):
    """`begin` and `resume` need a revision whose calls end with their questions."""

    def __init__(self, *, revision: str) -> None:
        self.revision = revision
        super().__init__(
            f"This server speaks MCP {revision}: it asks while the call is open, so the connection must live until "
            "the person has answered, and the call cannot be taken up again elsewhere. Give Driver a person and use "
            "call_tool(...), or keep the driver open in a process that stays."
        )


class PeerError(AskbackError):
    """The other side broke what it promised; its author's move."""

    default_code = INVALID_PARAMS


class InvalidAnswer(PeerError):
    """Reply after reply did not fit the question."""

    def __init__(self, *, place: str, attempts: int, problems: str) -> None:
        self.place, self.attempts, self.problems = place, attempts, problems
        super().__init__(
            f"The question {place!r} was answered {attempts} times and no reply fitted it. The last problem: "
            f"{problems} Call again when the right values are at hand."
        )


class RoundRefused(PeerError):
    """Other answers to a round that was answered, an older round, or one whose end is no longer kept."""

    def __init__(self) -> None:
        super().__init__(
            "This round was answered before. Call again from the start.",
            data={"reason": "used_round"},
        )


class NotUnderstood(PeerError):
    """A server said something that the protocol does not know at this place."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"The server broke the protocol: {problem.rstrip('.')}. Its author must mend that.")


class TooManyQuestions(PeerError):
    """More questions in one call, or the same one more often, than a person should be put through."""

    def __init__(self, *, asked: int, problem: str) -> None:
        self.asked, self.problem = asked, problem
        super().__init__(
            f"{problem.rstrip('.')}, so the call was ended. If this server is right to ask so much, raise Limits."
        )


class ServerGone(PeerError):
    """The connection ended before the call did; whether a call that was sent was done is for the server to say."""

    def __init__(
        self, *, server: str, during: str, said: str = "", only_looked: bool = False, was_sent: bool = True
    ) -> None:
        self.server, self.during, self.said, self.was_sent = server, during, said, was_sent
        when = "went away during" if was_sent else "had gone away before"
        unknown = ", so nobody knows whether it was done. Look for what it did before you call again."
        advice = unknown if was_sent and not only_looked else ". Nothing was called; connect to it again."
        super().__init__(f"The server {server} {when} {during}{advice}{_last_words(said)}")


class OperatorError(AskbackError):
    """The set-up must change: versions, keys, options."""


class UnsupportedHost(OperatorError):
    """This object, or this version of the SDK, is not one that Askback can be installed into."""


class StoreUnavailable(OperatorError):
    """The store cannot be reached or used; what depends on it is not done. The next call tries again."""

    def __init__(self, *, store: str, problem: str, advice: str) -> None:
        self.store, self.problem, self.advice = store, problem, advice
        super().__init__(f"The store {store} cannot be used: {problem.rstrip('.')}. {advice}")


class CallerUnknown(OperatorError):
    """Over HTTP without authorization all callers look alike, and what is kept for one would reach another."""

    def __init__(self) -> None:
        super().__init__(
            "This call keeps something for its caller, and nobody tells who the caller is: over HTTP that takes "
            "authorization. Protect the server, or tell callers apart with Askback(server, caller=...)."
        )


class Unguarded(OperatorError):
    """Pages take secrets from whoever opens them; somebody must tell who that is."""


class VaultUnavailable(OperatorError):
    """Secrets cannot be sealed, or those that were cannot be opened."""


class ProviderUnavailable(OperatorError):
    """A service that people are connected with does not answer, or not as it should."""

    def __init__(self, provider: str, problem: str) -> None:
        self.provider, self.problem = provider, problem
        super().__init__(
            f"The provider {provider!r} cannot be used now: {problem.rstrip('.')}. Call again later; if it stays so, "
            "look at what Provider(...) says."
        )


class CannotConnect(OperatorError):
    """What was tried, what went wrong, the last lines that the server wrote, and what to do."""

    def __init__(self, *, server: str, problem: str, advice: str, said: str = "") -> None:
        self.server, self.problem, self.advice, self.said = server, problem, advice, said
        super().__init__(f"Cannot connect to {server}: {problem.rstrip('.')}. {advice}{_last_words(said)}")


def _last_words(said: str) -> str:
    return f" The last it wrote:\n{said}" if said else ""


class PolicyRefused(OperatorError):
    """A policy is checked whole before anything is answered by it; `file` is where to mend it."""

    def __init__(self, *, file: str, problem: str, instead: str) -> None:
        self.file, self.problem, self.instead = file, problem, instead
        super().__init__(f"The policy {file}: {problem.rstrip('.')}. Instead: {instead.rstrip('.')}.")


class CannotAsk(AskbackError):
    """There is nobody who could be asked: the client, its revision or the transport cannot carry the question."""

    default_code = MISSING_REQUIRED_CLIENT_CAPABILITY

    def __init__(self, *, reason: str, advice: str, mode: str) -> None:
        self.reason, self.advice, self.mode = reason, advice, mode
        super().__init__(f"{reason} {advice}")


class TimedOut(AskbackError):
    """Nobody answered within the time the author gave. Deliberately not a `TimeoutError`: those get retried."""

    default_code = REQUEST_TIMEOUT
    advice = "Nobody answered the question {place!r} within {seconds:g} seconds. Call again when somebody is there."

    def __init__(self, *, place: str, seconds: float) -> None:
        self.place, self.seconds = place, seconds
        super().__init__(self.advice.format(place=place, seconds=seconds))


class StillOpen(TimedOut):
    """The person has agreed to go and is not done there, and the client will not come back for it by itself."""

    advice = (
        "The person has agreed to open the link and is not done there yet, and this client does not wait any longer. "
        "Nothing is lost: when they have finished on that page, make the same call again."
    )
    lost = (
        "The person has agreed to open the link and is not done there yet, and this client does not wait any longer. "
        "Nobody tells who calls here, so the next call begins anew. The operator can add authorization to the server, "
        "or name its callers with Askback(caller=...); then a later call finds what this one has left."
    )

    def __init__(self, *, place: str, seconds: float, lasts: bool = True) -> None:
        self.lasts = lasts
        """Whether a later call finds the visit that this one has left."""
        if not lasts:
            self.advice = self.lost
        super().__init__(place=place, seconds=seconds)


class VisitFailed(AskbackError):
    """What the person was sent to do did not work out; `reason` is the application's own word for it."""

    def __init__(self, *, place: str, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"What the person was sent to do did not work out: {reason}")


class VisitUnknown(AskbackError):
    """Nobody was sent there, or so long ago that it was forgotten."""

    def __init__(self) -> None:
        super().__init__(
            "There is no such visit: it was never begun on this store, or its time is over. Check that the id is the "
            "one from the link, and that whoever settles it uses the same store as the server that asked."
        )


class EffectFailed(AskbackError):
    """The function given to `once` raised; recorded, so that a replay fails alike instead of trying again.

    `text` is what the exception said. It is not part of the message, which may reach the client: it may hold anything.
    """

    def __init__(self, *, key: str, kind: str, text: str, within: float | None = None) -> None:
        self.key, self.kind, self.text, self.within = key, kind, text, within
        super().__init__(f"The effect {key!r} failed with {kind}. {UNKNOWN.get(kind) or _again(within)}")


class Unanswered(AskbackError):
    """Nobody answered, and nothing may answer in their place: no rule of a policy, no terminal, no person."""


class NotVisited(AskbackError):
    """A call that begins with a visit ended there: the person said no, or gave up waiting."""

    def __init__(self, *, message: str, why: str) -> None:
        self.message_shown, self.why = message, why
        super().__init__(
            f"This call needs the person to open a link first ({message!r}), and {why.rstrip('.')}. "
            "Call again when they want to."
        )


class Unfinished(AskbackError):
    """Given up waiting for the server; the time that people took to answer counts only against the caller's limit."""

    default_code = REQUEST_TIMEOUT

    def __init__(self, *, call: str, problem: str) -> None:
        self.call, self.problem = call, problem
        super().__init__(
            f"The call of {call} was given up: {problem.rstrip('.')}. The server was told; whether it was done all "
            "the same is for it to say."
        )


INTERRUPTED, FORGOTTEN = "Interrupted", "Forgotten"

UNKNOWN = {
    INTERRUPTED: "It was begun and cut short, so nobody knows whether it happened. Find out before you call again.",
    FORGOTTEN: "It was run before, and what it gave is no longer kept. Look for what it did before you call again.",
}
"""Failures after which calling anew could do the thing a second time."""


def _again(within: float | None) -> str:
    if within is None:
        return "It was not tried again; call anew to try it again."
    return (
        f"It was not tried again; the same call does not try it within {within:g} seconds of the first time."
    )
