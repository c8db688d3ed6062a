"""Errors on the side that answers: in a client, its connections, people and policies."""

from mcp_types import REQUEST_TIMEOUT

from askback.errors.roots import AskbackError, AuthorError, OperatorError, PeerError


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


class NotUnderstood(PeerError):
    """A server sent what the protocol does not allow at this place."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"The server broke the protocol: {problem.rstrip('.')}. Its author must mend that.")


class TooManyQuestions(PeerError):
    """Too many questions in one call, or one question repeated too often."""

    def __init__(self, *, asked: int, problem: str) -> None:
        self.asked, self.problem = asked, problem
        super().__init__(
            f"{problem.rstrip('.')}, so the call was ended. If this server is right to ask so much, raise Limits."
        )


class ServerGone(PeerError):
    """The connection ended before the call. Only the server knows whether a call that was sent was carried out."""

    def __init__(
        self, *, server: str, during: str, said: str = "", only_looked: bool = False, was_sent: bool = True
    ) -> None:
        self.server, self.during, self.said, self.was_sent = server, during, said, was_sent
        when = "went away during" if was_sent else "had gone away before"
        unknown = ", so nobody knows whether it was done. Look for what it did before you call again."
        advice = unknown if was_sent and not only_looked else ". Nothing was called; connect to it again."
        super().__init__(f"The server {server} {when} {during}{advice}{_last_words(said)}")


class CannotConnect(OperatorError):
    """A server cannot be reached: what was tried, what went wrong, its last output, and what to do."""

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


class Unanswered(AskbackError):
    """No answer came from a rule of a policy, a terminal or a person."""


class NotVisited(AskbackError):
    """A call needs a visit first, and the person declined it or stopped waiting."""

    def __init__(self, *, message: str, why: str) -> None:
        self.message_shown, self.why = message, why
        super().__init__(
            f"This call needs the person to open a link first ({message!r}), and {why.rstrip('.')}. "
            "Call again when they want to."
        )


class Unfinished(AskbackError):
    """The wait for a server ended. Time that people take to answer counts only against the caller's own limit."""

    default_code = REQUEST_TIMEOUT

    def __init__(self, *, call: str, problem: str) -> None:
        self.call, self.problem = call, problem
        super().__init__(
            f"The call of {call} was given up: {problem.rstrip('.')}. The server was told. Only the "
            "server knows whether it was carried out."
        )
