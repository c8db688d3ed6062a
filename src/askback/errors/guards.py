"""What stops a run that is guarded."""

from typing import Literal

from askback.errors.roots import AskbackError, OperatorError

NotRun = Literal["declined", "cancelled", "timed out", "cannot ask", "unfit", "cannot be shown", "refused"]
"""Why something that is guarded was not run. The last: a rule said no, and nobody was asked."""

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
    """A guard stands before it, and nobody has said yes; so it was not run.

    `outcome` tells the ways apart; where it comes from another error, that one is the cause.
    """

    def __init__(self, *, tool: str, outcome: NotRun, reason: str = "") -> None:
        self.tool, self.outcome, self.reason = tool, outcome, reason
        why = f"{_WHY[outcome]}. {reason}".strip()
        super().__init__(f"{tool} was not run: {why if why.endswith(('.', '?', '!')) else f'{why}.'}")


class EstimateFailed(OperatorError):
    """No number can be had for this statement; the move is the guard's, which asks a person instead of passing it.

    `problem` is for the operator's log and may quote the engine; what to do about it is in `advice`.
    """

    def __init__(self, *, engine: str, problem: str, advice: str) -> None:
        self.engine, self.problem, self.advice = engine, problem, advice
        super().__init__(f"{engine} gives no estimate: {problem.rstrip('.')}. {advice}")


class ChangedSinceApproval(AskbackError):
    """What a statement touches is not what it was when it was approved, so it was not run."""

    def __init__(self) -> None:
        super().__init__(
            "The statement was not run: tables, views or functions that it uses were changed after it was approved. "
            "Send it once more; it is then judged as it is now."
        )
