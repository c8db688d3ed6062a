"""Finds Redis, Postgres and nginx for the tests; as root on Debian, installs them, and leaves none of them running.

Where something is missing and cannot be installed, this says how to get it and ends with 1; the tests that need it are
then left out and counted.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from scripts.machine import BUILD, Step
from scripts.services.programs import PROGRAMS

POLICY = Path("/usr/sbin/policy-rc.d")
"""What Debian's packages ask, where it exists, before they start what they installed."""

NOT_NOW = "#!/bin/sh\nexit 101\n"


@contextmanager
def nothing_starts(policy: Path = POLICY) -> Generator[None]:
    """For the length of the block; a policy that the machine has already is its owner's, and stays."""
    if policy.exists() or not os.access(policy.parent, os.W_OK):
        yield
        return
    try:
        policy.write_text(NOT_NOW)
        policy.chmod(0o755)
        yield
    finally:
        policy.unlink(missing_ok=True)


def install(step: Step) -> None:
    lacking = [program for program in PROGRAMS if not program.find()]
    if not lacking:
        return
    packages = [program.package for program in lacking]
    with nothing_starts():
        step.install(*packages, otherwise=" ".join(program.advice for program in lacking))
    for program in lacking:
        program.path()


def main() -> int:
    return Step(name="services", home=BUILD / "services").attempt(install)


if __name__ == "__main__":
    sys.exit(main())
