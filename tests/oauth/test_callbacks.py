"""The way to a provider and back: what goes out, and what is taken for an answer (R83 to R86)."""

import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from askback.model.visit import VisitAborted, VisitDeclined, VisitSettled
from tests.oauth.switches import SWITCH, let_anybody_go_on, take_any_browser
from tests.support.authorization_server import Authority, authority
from tests.support.site import BASE, Site, become, sent, site
from tests.support.visitor import Visitor

CALLBACK = f"{BASE}/callback/calendar"


def back(state: str, code: str = "a-code", callback: str = CALLBACK, **more: str) -> str:
    """Where a provider sends a browser that it has signed in."""
    return f"{callback}?{urlencode({'code': code, 'state': state, **more})}"


async def states_of(visitor: Visitor, link: str) -> str:
    return sent(await visitor.agree(link))["state"]


class Invited(NamedTuple):
    """ann at her browser, with the link that asks her to connect her calendar; she has not opened it yet."""

    calendar: Authority
    pages: Site
    link: str
    ann: Visitor


@asynccontextmanager
async def invited(**metadata: Any) -> AsyncGenerator[Invited]:
    async with authority(**metadata) as calendar:
        pages = site(calendar.provider("calendar"))
        link = await pages.ask("ann", "calendar")
        async with pages.visitor("ann") as ann:
            yield Invited(calendar, pages, link, ann)


async def test_somebody_who_agrees_and_comes_back_is_connected():
    async with invited() as (calendar, pages, link, ann):
        done = await ann.open(back(await states_of(ann, link)))
        assert (done.status, await pages.ending(link)) == (200, VisitSettled())
    assert await pages.token_of("ann", "calendar") == "for-use"
    assert calendar.codes == ["a-code"]


@pytest.mark.verifies("R83")
async def test_there_is_no_state_before_somebody_has_agreed():
    async with invited() as (_, pages, link, ann):
        before = await pages.asked.store.rows(prefix="askback/flows")
        shown = await ann.open(link)
        assert (before, await pages.asked.store.rows(prefix="askback/flows")) == ([], [])
        assert "state=" not in shown.html
        states = [await states_of(ann, link) for _ in range(20)]
        assert len(await pages.asked.store.rows(prefix="askback/flows")) == len(set(states)) == 20
    assert all(re.fullmatch(r"[\w-]{43}", state) for state in states)


@pytest.mark.verifies("R83")
async def test_a_state_is_good_once():
    async with invited() as (calendar, _, link, ann):
        state = await states_of(ann, link)
        assert (await ann.open(back(state))).status == 200
        again = await ann.open(back(state, "another-code"))
    assert again.status == 403
    assert calendar.codes == ["a-code"]


@pytest.mark.verifies("R83")
@pytest.mark.parametrize(("seconds", "status"), [(599, 200), (601, 403)])
async def test_a_state_is_good_for_ten_minutes(seconds: int, status: int):
    async with invited() as (_, pages, link, ann):
        state = await states_of(ann, link)
        pages.clock.now += seconds
        assert (await ann.open(back(state))).status == status
        assert await pages.is_open(link) is (status == 403)


async def finish_in_another_browser() -> bool:
    """Whether a state that was begun in one browser of somebody's is taken in another of theirs."""
    async with invited() as (calendar, pages, link, ann), pages.visitor("ann") as other:
        await other.open(link)
        shown = await other.open(back(await states_of(ann, link)))
        if shown.status == 403:
            assert (calendar.codes, await pages.kept("ann")) == ([], 0)
            assert await pages.is_open(link)
        return shown.status != 403


@SWITCH
@pytest.mark.verifies("R83")
async def test_a_state_is_good_in_the_browser_where_it_was_begun(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    if not is_on:
        take_any_browser(monkeypatch)
    assert await finish_in_another_browser() is not is_on


async def finish_as_somebody_else() -> bool:
    """In one browser ann begins; whoever comes back there from the provider is ben, with ben's account."""
    async with invited() as (calendar, pages, link, browser):
        calendar.gives(access_token="of-bens-account")
        state = await states_of(browser, link)
        become(browser, "ben")
        shown = await browser.open(back(state))
        taken = await pages.token_of("ann", "calendar") == "of-bens-account"
        if not taken:
            assert (shown.status, calendar.codes) == (403, [])
            assert await pages.kept("ann", "ben") == 0 and await pages.is_open(link)
            calendar.gives(access_token="of-anns-account")
            become(browser, "ann")
            await browser.open(back(state))
            assert await pages.token_of("ann", "calendar") == "of-anns-account"
        return taken


@SWITCH
@pytest.mark.verifies("R86", "T01")
async def test_whoever_comes_back_is_whoever_went_before_any_code_is_used(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    if not is_on:
        let_anybody_go_on(monkeypatch)
    assert await finish_as_somebody_else() is not is_on


@pytest.mark.verifies("R86")
async def test_somebody_whom_the_door_does_not_know_does_not_come_back():
    async with invited() as (calendar, pages, link, browser):
        state = await states_of(browser, link)
        become(browser, None)
        assert (await browser.open(back(state))).status == 403
        assert calendar.codes == [] and await pages.is_open(link)


@pytest.mark.verifies("R84")
async def test_the_redirect_is_the_same_to_the_letter_both_times():
    async with invited() as (calendar, _, link, ann):
        out = sent(await ann.agree(link))
        await ann.open(back(out["state"]))
    assert out["redirect_uri"] == calendar.asked[-1].form["redirect_uri"] == CALLBACK


@pytest.mark.verifies("R85")
@pytest.mark.parametrize("secret", [None, "hush"])
async def test_every_sign_in_has_a_challenge_of_its_own(secret: str | None):
    async with authority() as calendar:
        pages = site(calendar.provider("calendar", client_secret=secret))
        async with pages.visitor("ann") as ann:
            begun = [sent(await ann.agree(await pages.ask("ann", "calendar"))) for _ in range(2)]
            await ann.open(back(begun[1]["state"]))
    assert all((out["code_challenge_method"], out["response_type"]) == ("S256", "code") for out in begun)
    challenges = [out["code_challenge"] for out in begun]
    verifier = str(calendar.asked[-1].form["code_verifier"])
    assert urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode() == challenges[1]
    assert challenges[0] != challenges[1] and len(verifier) >= 43


ISSUERS: dict[str, tuple[bool, list[str], bool]] = {
    "it names itself, as it said": (True, ["{issuer}"], True),
    "it does not, as it said": (False, [], True),
    "it names itself, though it did not say so": (False, ["{issuer}"], True),
    "it does not, though it said so": (True, [], False),
    "it names another": (True, ["https://id.example"], False),
    "it names another, unasked": (False, ["https://id.example"], False),
    "it names nobody": (True, [""], False),
    "it names itself with a stroke": (True, ["{issuer}/"], False),
    "it names two, itself last": (True, ["https://id.example", "{issuer}"], False),
    "it names two, itself first": (True, ["{issuer}", "https://id.example"], False),
    "it names itself twice": (True, ["{issuer}", "{issuer}"], False),
}


@pytest.mark.verifies("R85", "T22")
@pytest.mark.parametrize(("announced", "named", "is_taken"), ISSUERS.values(), ids=ISSUERS.keys())
async def test_an_answer_comes_from_the_issuer_that_was_asked(
    announced: bool, named: list[str], is_taken: bool
):
    said = {"authorization_response_iss_parameter_supported": announced}
    async with invited(**said) as (calendar, pages, link, ann):
        state = await states_of(ann, link)
        issuers = "".join(f"&iss={name.format(issuer=calendar.issuer)}" for name in named)
        shown = await ann.open(back(state) + issuers)
        assert (shown.status, bool(calendar.codes)) == ((200, True) if is_taken else (403, False))
        if not is_taken:
            assert await pages.is_open(link)
            await ann.open(back(state, iss=calendar.issuer))
            assert await pages.ending(link) == VisitSettled()


TWICE = ["&code=another-code", "&state=another", "&error=access_denied&error=access_denied"]


@pytest.mark.verifies("R85")
@pytest.mark.parametrize("more", TWICE)
async def test_an_answer_that_says_something_twice_says_nothing(more: str):
    async with invited() as (calendar, pages, link, ann):
        shown = await ann.open(back(await states_of(ann, link)) + more)
    assert (shown.status, calendar.codes) == (403, [])
    assert await pages.is_open(link)


BAD_STATES = ["", "state", "A" * 43, "\u2028", "%00", "../../visit", "x" * 5_000]


@pytest.mark.verifies("R83")
@pytest.mark.parametrize("state", BAD_STATES, ids=[repr(state)[:20] for state in BAD_STATES])
async def test_a_state_that_nobody_gave_out_is_good_for_nothing(state: str):
    async with authority() as calendar:
        pages = site(calendar.provider("calendar"))
        await pages.ask("ann", "calendar")
        async with pages.visitor("ann") as ann:
            assert (await ann.open(back(state))).status == 403
            assert (await ann.open(f"{CALLBACK}?code=a-code")).status == 403
            assert (await ann.open(back(state, callback=f"{BASE}/callback/unknown"))).status == 403
    assert calendar.codes == []


async def test_a_refusal_at_the_provider_is_a_no_and_an_error_a_failure():
    async with authority() as calendar:
        pages = site(calendar.provider("calendar"))
        async with pages.visitor("ann") as ann:
            for error, ending in (("access_denied", VisitDeclined), ("<b>server_error</b>", VisitAborted)):
                link = await pages.ask("ann", "calendar")
                query = urlencode({"error": error, "state": await states_of(ann, link)})
                shown = await ann.open(f"{CALLBACK}?{query}")
                assert isinstance(await pages.ending(link), ending) and "server_error" not in shown.html
    assert calendar.codes == []


async def test_a_no_in_another_window_stands_though_the_provider_says_yes():
    async with invited() as (calendar, pages, link, ann):
        state = await states_of(ann, link)
        await ann.decline(link)
        await ann.open(back(state))
        assert await pages.ending(link) == VisitDeclined()
    assert (calendar.codes, await pages.kept("ann")) == ([], 0)
