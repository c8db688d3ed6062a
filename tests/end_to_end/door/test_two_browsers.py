"""A stranger with the caller's link, at every hop: turned away, nothing learnt, nothing changed; and the caller can
still finish. Each attack succeeds once what stops it is taken out."""

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Browser

from tests.end_to_end.door.stage import REASON, STRANGER, Stage, stage
from tests.oauth.switches import Switch, let_anybody_go_on, share_attempts, take_any_browser, take_any_token
from tests.support.openid.guarded_server import Host
from tests.support.openid.provider import OpenID

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.browser,
    pytest.mark.strangers,
    pytest.mark.verifies("T01", "R20", "R21"),
]


async def open_the_link(one: Stage) -> bool:
    """Whether the stranger sees what is asked."""
    status = await one.stranger.open(one.link)
    sees = REASON in await one.stranger.page.content()
    assert (status == 403) is not sees
    return sees


async def post_the_callers_page(one: Stage) -> bool:
    """The caller's page, token and all, in the stranger's browser. Whether it is taken from there."""
    assert await one.caller.open(one.link) == 200
    html = await one.caller.page.content()
    await one.stranger.open(one.link)
    await one.stranger.page.set_content(html)
    if one.kind == "secret":
        await one.stranger.page.locator("input[type=password]").fill("0000-of-mallory")
    await one.stranger.submit()
    if one.kind == "connect":
        return one.stranger.page.url.startswith(one.openid.issuer)
    if not await one.kept("alice"):
        assert one.stranger.status == 403
    return (await one.kept("alice")).get("value") == "0000-of-mallory"


async def finish_at_the_provider(one: Stage) -> bool:
    """The caller agrees here; the stranger goes on from there. Whether it is the stranger's account that is kept."""
    assert await one.caller.open(one.link) == 200
    await one.caller.submit()
    begun = next(url for url, _ in reversed(one.caller.been) if "callback%2Fcalendar" in url)
    await one.stranger.open(one.link)
    status = await one.stranger.open(begun)
    assert (status == 403) is await one.is_open()
    return await one.account() == STRANGER


async def steal_the_callback(one: Stage) -> bool:
    """What the provider sends the caller back with, in the stranger's browser. Whether it is taken from there."""
    assert await one.caller.open(one.link) == 200
    async with one.caller.stopped_at("/askback/callback/") as stolen:
        await one.caller.submit()
        await one.caller.answer_the_provider()
    await one.stranger.open(one.link)
    status = await one.stranger.open(stolen[0])
    assert (status == 403) is await one.is_open()
    return not await one.is_open()


async def steal_the_sign_in(one: Stage) -> bool:
    """What the authorization server sends the caller back with. Whether the stranger is then taken for the caller."""
    async with one.caller.stopped_at("/askback/sign-in/callback") as stolen:
        await one.caller.page.goto(one.link)
        await one.caller.answer_the_provider()
    await one.stranger.page.goto(one.link)
    assert await one.stranger.open(stolen[0]) in {200, 403}
    return REASON in await one.stranger.page.content()


Attack = Callable[[Stage], Awaitable[bool]]

ATTACKS: dict[str, dict[Attack, tuple[Switch, ...]]] = {
    "secret": {
        steal_the_sign_in: (share_attempts,),
        open_the_link: (let_anybody_go_on,),
        post_the_callers_page: (let_anybody_go_on, take_any_token),
    },
    "connect": {
        steal_the_sign_in: (share_attempts,),
        open_the_link: (let_anybody_go_on,),
        post_the_callers_page: (let_anybody_go_on, take_any_token),
        finish_at_the_provider: (let_anybody_go_on, take_any_browser),
        steal_the_callback: (let_anybody_go_on, take_any_browser),
    },
}
"""For each kind of page the hops in their order, and what stops a stranger there."""

HOPS = [(kind, attack) for kind, attacks in ATTACKS.items() for attack in attacks]


SERVERS: list[tuple[str, str, Host]] = [
    ("secret", "2025-11-25", "mcp"),
    ("secret", "2026-07-28", "fastmcp"),
    ("connect", "2025-11-25", "fastmcp"),
    ("connect", "2026-07-28", "mcp"),
]


@pytest.mark.parametrize(("kind", "revision", "host"), SERVERS)
async def test_a_stranger_gets_nowhere_at_any_hop_and_the_caller_can_still_finish(
    browser: Browser, openid: OpenID, kind: str, revision: str, host: Host
):
    async with stage(browser, openid, kind, revision, host=host) as one:
        for attack in ATTACKS[kind]:
            assert not await attack(one), attack.__name__
            assert one.stranger.status == 403, attack.__name__
            await one.require_untouched()
        await one.finish()
        assert await one.kept(STRANGER) == {}


@pytest.mark.parametrize(
    ("kind", "attack"), HOPS, ids=[f"{kind}, {attack.__name__}" for kind, attack in HOPS]
)
async def test_each_attack_succeeds_once_what_stops_it_is_taken_out(
    monkeypatch: pytest.MonkeyPatch, browser: Browser, openid: OpenID, kind: str, attack: Attack
):
    for take_out in ATTACKS[kind][attack]:
        take_out(monkeypatch)
    async with stage(browser, openid, kind, "2026-07-28") as one:
        assert await attack(one)
