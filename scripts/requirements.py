"""Prints the requirements in scope that no test names, and fails when there is one.

Run as `python -m scripts.requirements` from the root of the repository.
"""

import contextlib
import io
import sys

import pytest

from tests.support.requirements import REQUIREMENTS, named_by


class Names:
    """A pytest plugin that notes which numbers the collected tests name."""

    def __init__(self) -> None:
        self.named: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.named = {number for item in session.items for number in named_by(item)}


def main() -> int:
    names, output = Names(), io.StringIO()
    with contextlib.redirect_stdout(output):
        ended = pytest.main(["--collect-only", "-q"], plugins=[names])
    if ended is not pytest.ExitCode.OK:
        print(output.getvalue())
        return int(ended)
    in_scope = {number for number, requirement in REQUIREMENTS.items() if requirement.state == "shown"}
    for number in sorted(in_scope - names.named):
        print(f"requirements: no test names {number}: {REQUIREMENTS[number].text}")
    print(f"requirements: {len(in_scope & names.named)} of {len(in_scope)} in scope are named by a test")
    return 1 if in_scope - names.named else 0


if __name__ == "__main__":
    sys.exit(main())
