"""What this server stores about a visitor, on a page for them alone."""

import pytest

from askback.vault.vault import VaultItem
from tests.support.visit_pages import ADA, EVE, WHO, Grounds, on_this_machine, outside
from tests.support.visitor import Shown, Visitor, visitor


async def forget(browser: Visitor, grounds: Grounds, name: str, kind: str = "secret") -> Shown:
    return await browser.post(f"{grounds.base}/kept", {"kind": kind, "name": name})


async def test_an_owner_sees_names_and_times_and_no_values() -> None:
    grounds = outside()
    await grounds.vault.put(ADA, VaultItem("secret", "weather key"), {"value": "k-canary"})
    await grounds.keep("archive login", until=grounds.clock() + 86_400)
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        shown = await ada.open(f"{grounds.base}/kept")
    assert shown.status == 200 and "k-canary" not in shown.html
    for words in ("weather key", "archive login", "typed on 15 January 2027", "stored until 16 January 2027"):
        assert words in shown.html


@pytest.mark.verifies("R20", "R25")
async def test_a_stranger_sees_and_forgets_their_own_only() -> None:
    grounds = outside()
    await grounds.keep("weather key", "of ada alone")
    await grounds.keep("weather key", owner=EVE)
    async with visitor(grounds.app) as eve:
        eve.client.headers[WHO] = "eve"
        shown = await eve.open(f"{grounds.base}/kept")
        assert "of ada alone" not in shown.html and "weather key" in shown.html
        await forget(eve, grounds, "of ada alone")
        after = await forget(eve, grounds, "weather key")
        assert "Nothing at the moment." in after.html
    assert set(await grounds.kept()) == {"weather key", "of ada alone"} and await grounds.kept(EVE) == {}


@pytest.mark.verifies("R88")
async def test_what_an_owner_has_forgotten_is_gone_and_the_list_comes_back() -> None:
    grounds = outside()
    await grounds.keep("weather key", 'it\'s "odd" <b>& more</b>')
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        shown = await forget(ada, grounds, 'it\'s "odd" <b>& more</b>')
    assert shown.heading == "What this server stores about you" and "odd" not in shown.html
    assert set(await grounds.kept()) == {"weather key"}


async def test_a_sign_in_is_given_back_and_forgotten_here_too() -> None:
    grounds = outside()
    await grounds.vault.put(ADA, VaultItem("connection", "gone-since"), {"access_token": "t-canary"})
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        shown = await ada.open(f"{grounds.base}/kept")
        assert "Disconnect gone-since" in shown.html and "t-canary" not in shown.html
        await forget(ada, grounds, "gone-since", "connection")
    assert await grounds.kept() == {}


@pytest.mark.verifies("T03")
@pytest.mark.parametrize("token", ["", "x.y"])
async def test_forgetting_needs_the_token_of_the_page(token: str) -> None:
    grounds = outside()
    await grounds.keep("weather key")
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        fields = {"kind": "secret", "name": "weather key"}
        shown = await ada.post(f"{grounds.base}/kept", fields, token=token)
    assert shown.status == 403 and await grounds.kept()


@pytest.mark.verifies("R92")
async def test_on_this_machine_the_list_is_for_a_browser_that_a_link_has_let_in() -> None:
    async with on_this_machine() as grounds, visitor() as first, visitor() as second:
        await grounds.keep("weather key")
        assert (await first.open(f"{grounds.base}/kept")).status == 403
        await first.open(await grounds.secret())
        assert "weather key" in (await first.open(f"{grounds.base}/kept")).html
        assert (await second.open(f"{grounds.base}/kept")).status == 403
        assert (await forget(second, grounds, "weather key")).status == 403
        await forget(first, grounds, "weather key")
        assert await grounds.kept() == {}
