"""The browser that the command line starts, and the link that it is led to."""

import shlex
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from askback.cli.call.options import read_desk
from askback.cli.call.people import open_answerer
from tests.client.consent.follower import FOLLOWER

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R92")]


async def test_a_browser_is_started_without_the_token_and_the_person_reads_a_link_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    note = tmp_path / "started"
    monkeypatch.setenv("BROWSER", shlex.join([sys.executable, FOLLOWER, str(note)]))
    async with open_answerer(read_desk(["server.py"])):
        started, printed = note.read_text().strip(), capsys.readouterr().err
    token = urlsplit(printed.split()[-1]).fragment
    assert printed.startswith("The desk is open at http://127.0.0.1:")
    assert urlsplit(started).fragment.startswith("once=")
    assert len(token) >= 43 and token not in started
