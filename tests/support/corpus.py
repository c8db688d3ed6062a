"""A corpus as one test: every case is tried, and the test fails with a list of those that miss."""

import inspect
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

Test = Callable[..., Any]


class Misses:
    """The cases that did not pass, each with its error."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Exception]] = []

    @contextmanager
    def case(self, values: dict[str, Any]) -> Generator[None]:
        try:
            yield
        except Exception as error:
            self._found.append((f"{values}", error))

    def raise_any(self) -> None:
        if self._found:
            lines = "\n\n".join(f"{case}\n{error!r}" for case, error in self._found)
            raise AssertionError(f"{len(self._found)} cases miss:\n{lines}") from self._found[0][1]


def corpus(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Like `pytest.mark.parametrize`, but one item; the fixtures of the test are made once, for all cases."""
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [dict(zip(keys, case if len(keys) > 1 else (case,), strict=True)) for case in cases]
    assert rows, "a corpus has cases"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            misses = Misses()
            for row in rows:
                with misses.case(row):
                    test(**fixtures, **row)
            misses.raise_any()

        @wraps(test)
        async def run_async(**fixtures: Any) -> None:
            misses = Misses()
            for row in rows:
                with misses.case(row):
                    await test(**fixtures, **row)
            misses.raise_any()

        wrapper: Any = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        rest = [one for name, one in signature.parameters.items() if name not in keys]
        wrapper.__signature__ = signature.replace(parameters=rest)
        return wrapper

    return decorate
