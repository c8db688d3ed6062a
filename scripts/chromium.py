"""Finds Chromium for the browser tests and the screenshots; as root on Debian, installs it.

Where it is missing and cannot be installed, this says how to get it and ends with 1; the tests that need it are then
left out and counted.
"""

import os
import shutil
import sys

from scripts.machine import BUILD, Step

NAMES = ("chromium", "chromium-browser", "google-chrome")

PACKAGES = ("chromium", "fonts-dejavu-core")
"""A machine without a screen often has no fonts, and a page without letters has no widths to test."""

ADVICE = "Chromium is missing. Install it (on Debian: `apt-get install chromium fonts-dejavu-core`)."


def find() -> str | None:
    """The path of this machine's Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def flags() -> list[str]:
    """What Chromium is to be started with: its sandbox cannot be made by root, and a container has little /dev/shm."""
    return ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]


def install(step: Step) -> None:
    if not find():
        step.install(*PACKAGES, otherwise=ADVICE)


def main() -> int:
    return Step(name="browser", home=BUILD / "browser").attempt(install)


if __name__ == "__main__":
    sys.exit(main())
