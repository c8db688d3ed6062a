"""The root of all errors, and the three kinds of errors that say who has to act."""

from collections.abc import Iterator
from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS


class AskbackWarning(UserWarning):
    """Something works but is likely not what its author meant."""


class AskbackError(MCPError):
    """The root of all errors; `str()` is advice that can be shown as it is."""

    default_code: int = INTERNAL_ERROR

    def __init__(self, advice: str, *, data: Any = None) -> None:
        super().__init__(self.default_code, advice, data)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled without calling __init__, whose arguments are facts and not the text.
        return BaseException.__new__, (type(self), *self.args), self.__dict__


class AuthorError(AskbackError):
    """The author of the tool has to change code; no retry helps."""


class PeerError(AskbackError):
    """The other side broke the protocol or a promise; its author has to act."""

    default_code = INVALID_PARAMS


class OperatorError(AskbackError):
    """The operator has to change the set-up: versions, keys, options."""


def own_error(error: BaseException | None) -> AskbackError | None:
    """Our error, also if a task group or a host wrapped it. An error that is only a context was handled before."""
    left, seen = [error], set[int]()  # each once: `raise e from e` makes a circle, and so may a group
    while left:
        one = left.pop()
        if isinstance(one, AskbackError):
            return one
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        is_group = isinstance(one, BaseExceptionGroup)
        # Before 4.1, FastMCP raises errors from themselves; what caused them is left in their context.
        cause = one.__context__ if one.__cause__ is one else one.__cause__
        left += reversed(cast("BaseExceptionGroup[Any]", one).exceptions) if is_group else [cause]
    return None


def causes(error: BaseException | None, *, or_context: bool = False) -> Iterator[BaseException]:
    """An error, what caused it, and so on; each once, since `raise e from e` makes a circle.

    With `or_context`, also the error that was being handled when one without a cause was raised.
    """
    seen = set[int]()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__ or (error.__context__ if or_context else None)
