"""What came of a command, as one value. Prints nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcp.shared.exceptions import MCPError
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, CallToolResult, TextContent

from askback.cli.call.offers import Listing
from askback.cli.call.results import Result
from askback.cli.exits import Exit, NotConnected
from askback.client import AnswerRecord, Asker
from askback.errors import (
    AskbackError,
    AuthorError,
    CannotConnect,
    NotVisited,
    OperatorError,
    PeerError,
    ServerGone,
    Unanswered,
    Unfinished,
)

SERVER_ERROR = "ServerError"
"""The kind of an error that the server answered with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no result, and what would help."""

    exit: Exit
    kind: str
    message: str
    code: int | None = None
    advice: str | None = None
    result: CallToolResult | None = None
    """What a tool that has finished gave all the same."""

    @property
    def is_theirs(self) -> bool:
        """Whether the message is the server's text and not ours."""
        return self.kind == SERVER_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """Whom we spoke with, as far as it came to that."""

    asker: Asker
    revision: str
    instructions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """A listing, a result or a failure, and who answered what on the way."""

    came: Listing | Result | Failure
    server: ServerFacts | None = None
    answers: Sequence[AnswerRecord] = field(default=())
    nobody: str | None = None
    """Why nobody could be asked here, if so."""
    log: str = field(default="", repr=False)
    """The end of what the server wrote to its standard error; its own text."""

    @property
    def exit(self) -> Exit:
        if isinstance(self.came, Failure):
            return self.came.exit
        if isinstance(self.came, CallToolResult) and self.came.is_error:
            return Exit.NOBODY_ANSWERED if self._wanted_to_ask else Exit.FAILED
        return Exit.DONE

    @property
    def _wanted_to_ask(self) -> bool:
        """Before 2026 a tool that cannot ask says so in an error of its own making; only its words tell."""
        texts = [one.text for one in getattr(self.came, "content", ()) if isinstance(one, TextContent)]
        return self.nobody is not None and speaks_of_asking(" ".join(texts))

    @property
    def advice(self) -> str | None:
        """What would help, where something would."""
        if isinstance(self.came, Failure):
            return self.came.advice
        return self.nobody if self.exit == Exit.NOBODY_ANSWERED else None


def failure_of(error: MCPError, *, nobody: str | None) -> Failure:
    """What was raised, as the shell and a reader learn of it."""
    is_ours = isinstance(error, AskbackError)
    ending = _exit_of(error, nobody)
    helps = ending == Exit.NOBODY_ANSWERED and not isinstance(error, Unanswered | NotVisited)
    return Failure(
        exit=ending,
        kind=type(error).__name__ if is_ours else SERVER_ERROR,
        message=error.message,
        code=None if is_ours else error.code,
        advice=nobody if helps else None,
        result=_result_of(error),
    )


def out_of_time(message: str) -> Failure:
    """The time of `--timeout` is over, wherever the command was by then."""
    return Failure(exit=Exit.OUT_OF_TIME, kind=Unfinished.__name__, message=message)


def too_slow(label: str, seconds: float) -> Failure:
    """Out of time, since the server did not even say that it is there."""
    return out_of_time(
        f"{label} did not answer within {seconds:g} seconds. Give it longer with --timeout, or start it by hand to "
        "see what it does."
    )


def _result_of(error: MCPError) -> CallToolResult | None:
    """Of a tool that has done its work and told of it in the wrong form."""
    if type(error) is not PeerError or error.data is None:
        return None
    return CallToolResult.model_validate(error.data)


def speaks_of_asking(text: str) -> bool:
    """Every SDK and server uses the protocol's word for it."""
    return "elicit" in text.lower()


def _exit_of(error: MCPError, nobody: str | None) -> Exit:
    for kind, ending in ENDINGS.items():
        if isinstance(error, kind):
            return ending
    lacks = error.code == MISSING_REQUIRED_CLIENT_CAPABILITY or speaks_of_asking(error.message)
    return Exit.NOBODY_ANSWERED if nobody is not None and lacks else Exit.FAILED


ENDINGS: dict[type[Exception], Exit] = {
    NotConnected: Exit.NOT_CONNECTED,
    CannotConnect: Exit.NOT_CONNECTED,
    OperatorError: Exit.MISUSED,
    AuthorError: Exit.MISUSED,
    ServerGone: Exit.NOT_CONNECTED,
    NotVisited: Exit.NOBODY_ANSWERED,
    Unanswered: Exit.NOBODY_ANSWERED,
    Unfinished: Exit.OUT_OF_TIME,
}
"""The first that fits; an error that fits none came from the server."""
