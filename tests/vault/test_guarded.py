"""A guard before a tool that takes a secret: two questions, and the secret is typed into neither of them."""

from typing import Any

import pytest
from mcp.server import MCPServer

from askback import Accepted, Askback, guard, secret
from askback.testing import REVISIONS, accept, decline, run_tool
from askback.vault.vault import Vault

BOTH: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


@guard("Fetch the archive of {town}? It takes your password.")
async def fetch(town: str) -> str:
    found = await secret("Your password for the archive.", "archive password")
    return "fetched" if isinstance(found, Accepted) else "not fetched"


@pytest.mark.verifies("R11", "R12")
@pytest.mark.parametrize("revision", REVISIONS[1:])
async def test_consent_is_asked_on_a_form_and_the_secret_behind_a_link(vault: Vault, revision: str):
    server: MCPServer[Any] = MCPServer("archive")
    server.add_tool(fetch)
    Askback(server, vault=vault, clock=vault.clock)
    given = {"town": "Delft"}
    refused = await run_tool(server, "fetch", given, [decline()], revision=revision, capabilities=BOTH)
    assert refused.is_error and len(refused.asked) == 1, "no link before the yes"
    run = await run_tool(
        server, "fetch", given, [accept(yes=True), decline()], revision=revision, capabilities=BOTH
    )
    consent, link = run.asked
    assert (consent.mode, link.mode, run.text) == ("form", "url", "not fetched")
    assert [field["type"] for field in consent.schema["properties"].values()] == ["boolean"]
    assert link.message == "Your password for the archive." and not link.schema
