"""Pairs of revision and host: each of them in one test or another, where not every pair is a case of its own."""

from collections.abc import Sequence

import pytest

Corner = tuple[str, str]


def run_on_corners(metafunc: pytest.Metafunc, corners: Sequence[Corner]) -> None:
    """In the place of every revision with every host, where a test takes both and chooses neither by itself."""
    # A marker, since it is what keeps pytest from going through the values of the fixtures as well.
    chosen = {str(mark.args[0]) for mark in metafunc.definition.iter_markers("parametrize")}
    if {"revision", "host"} <= set(metafunc.fixturenames) and not any(
        name in names for names in chosen for name in ("revision", "host")
    ):
        ids = [" ".join(corner) for corner in corners]
        metafunc.definition.add_marker(
            pytest.mark.parametrize(("revision", "host"), corners, indirect=True, ids=ids)
        )
