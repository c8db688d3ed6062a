"""What all errors share, and the three kinds whose next move is somebody else's."""

from collections.abc import Iterator
from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS


class AskbackWarning(UserWarning):
    """Something works but is likely not what its author meant."""


class AskbackError(MCPError):
    """The root; `str()` is advice that can be shown as it is."""

    default_code: int = INTERNAL_ERROR

    def __init__(self, advice: str, *, data: Any = None) -> None:
        super().__init__(self.default_code, advice, data)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled without calling __init__, whose arguments are facts and not the text.
        return BaseException.__new__, (type(self), *self.args), self.__dict__


class AuthorError(AskbackError):
    """The code that asks must change; no retry helps."""


class PeerError(AskbackError):
    """The other side broke what it promised; its author's move."""

    default_code = INVALID_PARAMS


class OperatorError(AskbackError):
    """The set-up must change: versions, keys, options."""


def own_error(error: BaseException | None) -> AskbackError | None:
    """Ours, also where a task group or a host wrapped it. A mere context does not count: that one was handled."""
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

    With `or_context`, also what was being handled when an error without a cause was raised.
    """
    seen = set[int]()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__ or (error.__context__ if or_context else None)
