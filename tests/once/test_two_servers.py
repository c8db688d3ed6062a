"""Two servers on one store: what an effect gave in one of them is none of the other's."""

import time
from typing import Any

import pytest

from askback.server import call
from askback.testing import REVISIONS, run_tool
from tests.once.bank import Bank
from tests.once.servers import Host, serve
from tests.pages.switch import with_and_without
from tests.stores.workers import Opener

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R39")]


def without_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scope of an effect does not say which server it is of."""
    whole = call.scope_of

    def scope_of(ctx: Any, _server: str, caller: str, key: str) -> str:
        return whole(ctx, "", caller, key)

    monkeypatch.setattr(call, "scope_of", scope_of)


@with_and_without
@pytest.mark.parametrize("revision", [REVISIONS[0], REVISIONS[-1]])
async def test_an_effect_of_one_server_is_not_taken_for_that_of_another(
    is_defended: bool, revision: str, every_host: Host, opener: Opener, monkeypatch: pytest.MonkeyPatch
):
    if not is_defended:
        without_its_name(monkeypatch)
    savings, loans = Bank(), Bank()
    store = opener(time.time)
    servers = [
        serve(every_host, bank.body, name=name, store=store)
        for name, bank in (("savings", savings), ("loans", loans))
    ]
    for _ in range(2):  # and each of them still runs its own once
        for server in servers:
            await run_tool(server, "t", revision=revision)
    assert savings.made == ["Ada"]
    assert loans.made == (["Ada"] if is_defended else [])


async def test_workers_of_one_server_have_one_name_and_share_what_was_done(every_host: Host, opener: Opener):
    bank = Bank()
    for _worker in range(2):
        server = serve(every_host, bank.body, name="bank", store=opener(time.time))
        await run_tool(server, "t")
    assert bank.made == ["Ada"]
