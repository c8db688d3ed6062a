"""Who signed in as the wrong person gets out, and is asked who they are; whoever sends them there gets nothing."""

from collections.abc import Awaitable, Callable

import pytest

from askback.model.visit import VisitSettled
from askback.pages.csrf import CSRFTokens
from askback.runtime.visits import digest_of
from tests.oauth.switches import SWITCH
from tests.oauth.test_signing_in import House, house
from tests.support.defence import no_objection
from tests.support.site import BASE, sent
from tests.support.visitor import Shown, Visitor

SIGN_OUT, SIGNED_OUT = f"{BASE}/sign-out", f"{BASE}/signed-out"
Attack = Callable[[House, Visitor, Shown], Awaitable[Shown]]

BUTTON = "Sign in as somebody else"
WORDS = "You are signed out here. Open the link from your client again."


async def sign_out(browser: Visitor, stranger: Shown, **fields: str) -> Shown:
    """The form of the page for strangers."""
    return await browser.post(SIGN_OUT, fields, token=stranger.token)


async def is_known(browser: Visitor) -> bool:
    return (await browser.open(f"{BASE}/kept")).status == 200


@pytest.mark.verifies("R20")
async def test_who_signed_in_as_the_wrong_person_can_sign_in_as_the_right_one():
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        assert "prompt" not in sent(await browser.open(link))
        stranger = await one.sign_in(browser, link, sub="alice-at-work")
        assert stranger.status == 403 and BUTTON in stranger.html
        out = await sign_out(browser, stranger)
        assert (out.status, str(out.response.url)) == (200, SIGNED_OUT) and WORDS in out.html
        for _ in range(2):  # also if the first does not come to an end
            assert sent(await browser.open(link))["prompt"] == "login"
        assert (await one.sign_in(browser, link, sub="alice")).status == 200
        one.clock.now += 3_601
        assert "prompt" not in sent(await browser.open(link))


async def test_a_provider_that_knows_no_login_prompt_is_asked_as_the_operator_says():
    async with house(prompt="select_account") as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        await sign_out(browser, await one.sign_in(browser, link, sub="mallory"))
        assert sent(await browser.open(link))["prompt"] == "select_account"


@pytest.mark.verifies("R20", "T01")
async def test_the_page_says_the_same_whatever_is_behind_the_link():
    async with house() as one, one.browser() as browser:
        links = [await one.link_for(sub=name) for name in ("alice", "alice", "bob")]
        await one.asked.visits.end(digest_of(links[1].rpartition("/")[2]), VisitSettled())
        await one.sign_in(browser, links[0], sub="mallory")
        pages = [await browser.open(link) for link in links]
        assert {page.status for page in pages} == {403} and BUTTON in pages[0].html
        assert len({page.html for page in pages}) == 1
        assert not any(link.rpartition("/")[2] in pages[0].html for link in links)


async def test_somebody_who_is_not_signed_in_is_offered_no_way_out():
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        shown = await browser.post(link, {"answer": "no"}, token="")
        assert shown.status == 403 and BUTTON not in shown.html


@pytest.mark.verifies("T06")
async def test_the_way_out_leads_to_one_page_whatever_is_asked_for():
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        stranger = await one.sign_in(browser, link, sub="mallory")
        asked = dict.fromkeys(("next", "back", "post_logout_redirect_uri"), "https://evil.example")
        assert str((await sign_out(browser, stranger, **asked)).response.url) == SIGNED_OUT


async def from_elsewhere(one: House, browser: Visitor, stranger: Shown) -> Shown:
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    return await browser.post(SIGN_OUT, {}, token=stranger.token, headers=headers)


async def without_a_token(one: House, browser: Visitor, stranger: Shown) -> Shown:
    return await browser.post(SIGN_OUT, {}, token="")


async def with_a_token_of_another_browser(one: House, browser: Visitor, stranger: Shown) -> Shown:
    async with one.browser() as other:
        shown = await one.sign_in(other, await one.link_for(sub="alice"), sub="mallory")
    return await sign_out(browser, shown)


async def with_a_token_of_another_page(one: House, browser: Visitor, stranger: Shown) -> Shown:
    return await sign_out(browser, await browser.open(f"{BASE}/kept"))


@pytest.mark.verifies("T03")
@pytest.mark.parametrize(
    "attack",
    [from_elsewhere, without_a_token, with_a_token_of_another_browser, with_a_token_of_another_page],
    ids=lambda attack: attack.__name__,
)
@SWITCH
async def test_nobody_else_signs_somebody_out(monkeypatch: pytest.MonkeyPatch, attack: Attack, is_on: bool):
    if not is_on:
        for objection in ("objection_to_headers", "objection_to_token"):
            monkeypatch.setattr(CSRFTokens, objection, no_objection)
    async with house() as one, one.browser() as browser:
        stranger = await one.sign_in(browser, await one.link_for(sub="alice"), sub="mallory")
        shown = await attack(one, browser, stranger)
        assert (shown.status == 403) is is_on
        assert await is_known(browser) is is_on


@pytest.mark.verifies("T03")
async def test_a_post_that_brings_no_cookie_takes_none_away():
    """As browsers send it from another site; an answer with a cookie would replace the one that was kept back."""
    async with house() as one, one.browser() as browser:
        answer = await browser.client.post(SIGN_OUT, headers={"origin": "https://evil.example"})
        assert answer.status_code == 303 and "set-cookie" not in answer.headers


async def test_a_form_that_was_open_elsewhere_in_the_browser_is_no_good_after_signing_out():
    async with house() as one, one.browser() as browser:
        of_mallory = await one.link_for(sub="mallory")
        form = await one.sign_in(browser, of_mallory, sub="mallory")
        await sign_out(browser, await browser.open(await one.link_for(sub="alice")))
        typed = {"answer": "yes", "field-value": "late"}
        assert (await browser.post(of_mallory, typed, token=form.token)).status == 403


async def test_nobody_who_is_signed_in_is_told_that_they_are_not():
    async with house() as one, one.browser() as browser:
        await one.sign_in(browser, await one.link_for(sub="alice"), sub="alice")
        assert WORDS not in (await browser.open(SIGNED_OUT)).html
