"""A question on 2026-07-28 travels with the client, and is still for the caller it was put to."""

from typing import Any

import pytest

from askback import Askback
from askback.model.owners import owner_from_claims
from askback.vault.vault import VaultItem
from tests.end_to_end.door.served import CLAIMS, WHO, shed
from tests.support.deliveries import end_of
from tests.support.openid.guarded_server import HOSTS, Host
from tests.support.raw import answering
from tests.support.raw_http import META, Posting
from tests.support.visitor import visitor

pytestmark = pytest.mark.anyio


async def owned_by(asked: Askback, name: str) -> Any:
    owner = owner_from_claims(CLAIMS[name])
    assert owner is not None
    return await asked.page_host.vault.get(owner, VaultItem("secret", "shed"))


@pytest.mark.verifies("R25", "R29")
@pytest.mark.parametrize("host", HOSTS)
async def test_a_question_to_one_caller_is_not_answered_by_another(host: Host):
    async with shed(host, hold=0.1) as one:
        meta: dict[str, Any] = {
            **META,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}},
        }
        alice, bob = (
            Posting(one.url, {"authorization": f"Bearer {name}", "mcp-name": "reveal"})
            for name in ("alice", "bob")
        )
        asked = await alice.call(name="reveal", _meta=meta)
        [key] = asked["inputRequests"]
        retry = {**answering(asked), "inputResponses": {key: {"action": "accept"}}}
        refused = await end_of(bob.call(name="reveal", _meta=meta, **retry))
        assert "code" in refused and "shed" not in str(refused)
        link = asked["inputRequests"][key]["params"]["url"]
        async with visitor(one.asked.pages) as browser:
            browser.client.headers[WHO] = "bob"
            assert (await browser.open(link)).status == 403
            browser.client.headers[WHO] = "alice"
            assert (await browser.give(link, "under the mat")).status == 200
        assert (await alice.call(name="reveal", _meta=meta, **retry))["content"][0]["text"] == "under the mat"
        assert await owned_by(one.asked, "bob") is None
