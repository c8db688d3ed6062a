"""sqlglot warns of what it cannot parse and quotes it, and a statement may hold what belongs in no log."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_QUIET: ContextVar[bool] = ContextVar("askback_sqlglot_quiet", default=False)


def _is_wanted(_: logging.LogRecord) -> bool:
    return not _QUIET.get()


@contextmanager
def quiet() -> Generator[None]:
    """Nothing of sqlglot's is logged for what is done inside; others that use it hear their warnings as before."""
    logging.getLogger("sqlglot").addFilter(_is_wanted)  # a second time it does nothing
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)
