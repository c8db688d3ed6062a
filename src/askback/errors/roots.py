"""What all errors share, and the three kinds whose next move is somebody else's."""

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
        return (_restore, (type(self), self.args, self.__dict__))


def _restore(kind: type[AskbackError], args: tuple[Any, ...], fields: dict[str, Any]) -> AskbackError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class AuthorError(AskbackError):
    """The code that asks must change; no retry helps."""


class PeerError(AskbackError):
    """The other side broke what it promised; its author's move."""

    default_code = INVALID_PARAMS


class OperatorError(AskbackError):
    """The set-up must change: versions, keys, options."""


def own_error(error: BaseException | None) -> AskbackError | None:
    """Ours, also where a task group or a host wrapped it. A mere context does not count: that one was handled."""
    if error is None or isinstance(error, AskbackError):
        return error
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return next((ours for inner in group.exceptions if (ours := own_error(inner)) is not None), None)
    return own_error(error.__cause__)
