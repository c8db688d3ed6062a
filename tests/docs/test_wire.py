"""What the page on the wire shows is what goes over it now."""

import asyncio

import pytest

from scripts.wire import PLACE, excerpts
from tests.support.docs_pages import DOCS

SAME = {"form-2026-07-28.json": "form-2025-11-25.json"}
"""Shown once, for both revisions."""

FILES = sorted(file.name for file in PLACE.iterdir())


@pytest.fixture(scope="module")
def sent() -> dict[str, str]:
    """What real calls send, by the name of the excerpt."""
    return asyncio.run(excerpts())


@pytest.mark.parametrize("name", FILES)
def test_an_excerpt_is_current(name: str, sent: dict[str, str]):
    assert (PLACE / name).read_text() == sent.get(name), (
        "Run `python -m scripts.wire`, and read what changed."
    )


def test_every_excerpt_is_written_and_shown(sent: dict[str, str]):
    page = (DOCS / "reference" / "wire.md").read_text()
    assert sorted(sent) == FILES
    assert all(SAME.get(name, name) in page for name in FILES)
    assert all(sent[name] == sent[shown] for name, shown in SAME.items())
