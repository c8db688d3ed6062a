"""The browser that the command line starts: what stands among its arguments, others on this machine can read."""

import shlex
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from askback.cli.options import read_desk
from askback.cli.people import present

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R92")]

BROWSER = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"


async def test_a_browser_is_started_without_the_token_and_the_person_reads_a_link_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    note = tmp_path / "started"
    monkeypatch.setenv("BROWSER", shlex.join([sys.executable, "-c", BROWSER, str(note)]))
    async with present(read_desk(["server.py"]).connecting):
        started, printed = note.read_text(), capsys.readouterr().err
    token = urlsplit(printed.split()[-1]).fragment
    assert printed.startswith("The desk is open at http://127.0.0.1:")
    assert urlsplit(started).fragment.startswith("once=")
    assert len(token) >= 43 and token not in started
