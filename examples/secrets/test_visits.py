"""The notary's visits, as an author would test them."""

from pathlib import Path
from typing import Any

import pytest
from anyio import create_task_group

from askback.testing import Asked, accept, decline, run_tool
from askback.testing.script import Accept
from askback.vault import new_key
from examples.secrets.visits import make_server

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


LINKS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


# --8<-- [start:home]
@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKBACK_HOME", str(tmp_path))
    monkeypatch.setenv("ASKBACK_VAULT_KEYS", new_key())


# --8<-- [end:home]


# --8<-- [start:settle]
async def test_a_document_is_signed():
    server, asked = make_server()
    async with create_task_group() as beside:

        def agree(shown: Asked) -> Accept:
            visit = shown.url.partition("?visit=")[2]
            beside.start_soon(asked.settle, visit, {"signed_on": "Monday"})
            return accept()

        run = await run_tool(server, "sign", {"title": "Will"}, agree, capabilities=LINKS)
        assert run.text == "Will was signed on Monday."


# --8<-- [end:settle]


async def test_a_no_is_taken_for_a_no():
    server, _ = make_server()
    run = await run_tool(server, "sign", {"title": "Will"}, [decline()], capabilities=LINKS)
    assert run.text == "Will is not signed, and is not going to be."
