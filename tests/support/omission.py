"""Tests that this machine cannot run: skipped, and counted where everybody sees it. On CI they fail instead."""

import os
from typing import NoReturn

import pytest

PREFIX = "left out: "


def leave_out(why: str) -> NoReturn:
    """`why` says what is missing and how to get it."""
    if os.environ.get("CI"):
        pytest.fail(f"CI leaves nothing out. {why}", pytrace=False)
    pytest.skip(PREFIX + why)
