"""Fifty workers on one store do the same at once: one wins, and all agree who that was."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from askback.stores import Store
from askback.vault.keyring import KeyRing
from askback.vault.vault import Vault
from tests.runtime.races.racers import FIFTY, KEYS, LEASE, SECONDS
from tests.support.deliveries import REFUSED, all_alike, text_of
from tests.support.openid.provider import LASTING, OpenID
from tests.support.openid.revisions import REVISIONS
from tests.support.paths import ROOT
from tests.support.stores.url import opened
from tests.verbs.connect.office import BASIC, open_office

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.verifies("R39"), pytest.mark.timeout(120)]


def race(name: str, url: str, **settings: Any) -> list[Any]:
    """What each of the fifty saw."""
    command = [sys.executable, "-m", "tests.runtime.races.racers", name, url, json.dumps(settings)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * SECONDS, check=False)
    assert not done.returncode, done.stderr
    seen = json.loads(done.stdout)
    assert len(seen) == FIFTY
    return seen


def test_of_fifty_copies_of_one_round_one_is_run_and_all_get_its_result(url: str, tmp_path: Path):
    traces = tmp_path / "traces"
    ends = race("redeem alike", url, traces=str(traces))
    (runner,) = traces.read_text().split()
    assert all_alike(ends)
    assert text_of(ends[0]) == f"3 baked by {runner}"


def test_of_fifty_answers_to_one_round_one_counts_and_the_others_are_refused(url: str, tmp_path: Path):
    traces = tmp_path / "traces"
    ends = race("redeem otherwise", url, traces=str(traces))
    (runner,) = traces.read_text().split()
    (winner,) = [number for number, end in enumerate(ends) if end != REFUSED]
    assert text_of(ends[winner]) == f"{winner} baked by {runner}"


def test_of_fifty_ends_of_one_visit_the_first_stands_and_every_copy_of_the_call_goes_on_with_it(url: str):
    seen = race("settle", url)
    (winner,) = [one["number"] for one in seen if one["is ours"]]
    assert all_alike([one["end"] for one in seen])
    assert text_of(seen[0]["end"]) == f"paid with card {winner}"


@pytest.mark.strangers
async def test_of_fifty_who_need_a_fresh_token_one_fetches_it_and_all_have_it(url: str, openid: OpenID):
    store = opened(url, lease=LEASE)
    provider = await connected(openid, store)
    await store.close()
    seen = race(
        "refresh",
        url,
        issuer=provider.issuer,
        client_id=provider.client_id,
        scopes=BASIC,
        ahead=float(2 * LASTING),
    )
    assert len(set(seen)) == 1 and len(seen[0]) == 64, "all have the same token"
    assert len(await openid.refreshes(provider.client_id)) == 1


async def connected(openid: OpenID, store: Store) -> Any:
    """The provider with which somebody has connected, before; their tokens are in that store."""
    vault = Vault(store, KeyRing([b"k" * 32]))
    async with open_office(openid, REVISIONS[-1], store=store, vault=vault, keys=KEYS) as office:
        assert await office.fetch(*BASIC)
        return office.traveller.provider
