"""Posts that no page of ours has sent (T03)."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from askback.model.visit import VisitSettled
from askback.pages.csrf import CSRFTokens
from tests.support.defence import no_objection, with_and_without
from tests.support.visit_pages import EVE, OUTSIDE, WHO, Grounds, in_a_browser, listening, outside
from tests.support.visitor import SAME_ORIGIN, Visitor, visitor

FOREIGN: dict[str, dict[str, str]] = {
    "says nothing": {},
    "another origin": {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
    "another origin of an old browser": {"origin": "https://evil.example"},
    "a name that begins like ours": {"origin": f"{OUTSIDE}.evil.example"},
    "another scheme": {"origin": "http://tools.example", "sec-fetch-site": "same-origin"},
    "another port": {"origin": f"{OUTSIDE}:8443", "sec-fetch-site": "same-site"},
    "another site, our origin": {"origin": OUTSIDE, "sec-fetch-site": "cross-site"},
    "a sister site": {"origin": OUTSIDE, "sec-fetch-site": "same-site"},
    "typed into the address bar": {"origin": OUTSIDE, "sec-fetch-site": "none"},
    "a sandboxed frame": {"origin": "null", "sec-fetch-site": "cross-site"},
    "a sandboxed frame of an old browser": {"origin": "null"},
    "no origin, our site": {"sec-fetch-site": "same-origin"},
}

TYPED = {"answer": "yes", "field-value": "planted by eve"}


def take_out(monkeypatch: pytest.MonkeyPatch, *defences: str) -> None:
    for defence in defences:
        monkeypatch.setattr(CSRFTokens, defence, no_objection)


def signed_in(browser: Visitor, name: str) -> Visitor:
    browser.client.headers[WHO] = name
    return browser


async def is_planted(grounds: Grounds, link: str) -> bool:
    """Whether the attack has worked; if not, nothing at all has changed."""
    kept, ending = await grounds.kept(), await grounds.ending(link)
    assert (kept == {}) == (ending is None)
    return kept != {}


@pytest.mark.verifies("T03", "R81")
@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
@with_and_without
async def test_a_post_that_a_browser_says_is_from_elsewhere_changes_nothing(
    headers: dict[str, str], is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_defended:
        take_out(monkeypatch, "objection_to_headers")
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as browser:
        shown = await signed_in(browser, "ada").post(link, TYPED, headers=headers)
    assert await is_planted(grounds, link) is not is_defended
    assert (shown.status == 403) is is_defended


async def no_token(_: Grounds, __: str, ___: Visitor) -> str:
    return ""


async def made_up(_: Grounds, __: str, ___: Visitor) -> str:
    return "W10.c2lnbmVk"


async def of_another_browser(grounds: Grounds, link: str, _: Visitor) -> str:
    async with visitor(grounds.app) as other:
        return (await signed_in(other, "ada").open(link)).token


async def of_another_page(grounds: Grounds, _: str, browser: Visitor) -> str:
    return (await browser.open(await grounds.secret(name="another key"))).token


async def of_another_person(_: Grounds, link: str, browser: Visitor) -> str:
    """In the same browser, before ada signed in there; who holds the key could bind it to this page, eve cannot."""
    shown = await signed_in(browser, "eve").open(link.rpartition("/visit/")[0] + "/kept")
    signed_in(browser, "ada")
    return shown.token


async def expired(grounds: Grounds, link: str, browser: Visitor) -> str:
    token = (await browser.open(link)).token
    grounds.clock.now += 3601
    await browser.open(link)
    return token


async def changed(_: Grounds, link: str, browser: Visitor) -> str:
    token = (await browser.open(link)).token
    return token.swapcase()


TokenOf = Callable[[Grounds, str, Visitor], Awaitable[str]]

TOKENS: list[TokenOf] = [
    no_token,
    made_up,
    changed,
    of_another_browser,
    of_another_page,
    of_another_person,
    expired,
]


@pytest.mark.verifies("T03")
@pytest.mark.parametrize("token_of", TOKENS, ids=[made.__name__ for made in TOKENS])
@with_and_without
async def test_a_post_without_the_token_of_this_page_in_this_browser_changes_nothing(
    token_of: TokenOf, is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_defended:
        take_out(monkeypatch, "objection_to_token")
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as browser:
        await signed_in(browser, "ada").open(link)
        shown = await browser.post(link, TYPED, token=await token_of(grounds, link, browser))
    assert await is_planted(grounds, link) is not is_defended
    assert (shown.status == 403) is is_defended


@pytest.mark.verifies("T03", "R82")
async def test_a_token_of_the_same_page_and_browser_is_no_good_for_another_person() -> None:
    grounds = outside()
    await grounds.keep("weather key")
    await grounds.keep("weather key", owner=EVE)
    async with visitor(grounds.app) as browser:
        of_eve = (await signed_in(browser, "eve").open(f"{grounds.base}/kept")).token
        forget = {"kind": "secret", "name": "weather key"}
        shown = await signed_in(browser, "ada").post(f"{grounds.base}/kept", forget, token=of_eve)
    assert shown.status == 403
    assert await grounds.kept() and await grounds.kept(EVE)


@pytest.mark.verifies("T03")
async def test_of_two_tabs_with_the_same_page_the_first_can_be_sent_and_the_second_says_so() -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as browser:
        first = (await signed_in(browser, "ada").open(link)).token
        second = (await browser.open(link)).token
        sent = await browser.post(link, {"answer": "yes", "field-value": "from the first"}, token=first)
        assert (sent.status, sent.heading) == (200, "Saved")
        late = await browser.post(link, {"answer": "yes", "field-value": "from the second"}, token=second)
        assert (late.status, late.heading) == (409, "This was already done")
    assert await grounds.kept() == {"weather key": {"value": "from the first"}}


@pytest.mark.verifies("T03", "R82")
async def test_a_cookie_is_of_no_use_for_a_visit_in_another_browser_that_has_only_the_link() -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as browser, visitor(grounds.app) as other:
        token = (await signed_in(browser, "ada").open(link)).token
        shown = await signed_in(other, "ada").post(link, TYPED, token=token)
    assert shown.status == 403 and await grounds.kept() == {}


@asynccontextmanager
async def another_site(link: str) -> AsyncGenerator[str]:
    """A page that sends a form of its own to the link as soon as it is looked at; under another name, so that it is
    another site to a browser."""

    async def lure(_: Request) -> Response:
        fields = "".join(f"<input name='{name}' value='{value}'>" for name, value in TYPED.items())
        return HTMLResponse(
            f"<body onload='document.forms[0].submit()'><form method=post action='{link}'>{fields}</form>"
        )

    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        async with listening(Starlette(routes=[Route("/", lure)]), listener):
            yield f"http://localhost:{listener.getsockname()[1]}/"


@pytest.mark.browser
@pytest.mark.verifies("T03", "R21")
@with_and_without
async def test_a_page_elsewhere_that_sends_its_own_form_changes_nothing(
    browser: Browser, is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_defended:
        take_out(monkeypatch, "objection_to_headers", "objection_to_token")
    async with in_a_browser() as grounds:
        link = await grounds.secret()
        # Known by the network she is in: a browser says so whoever makes it go there.
        context = await browser.new_context(extra_http_headers={WHO: "ada"})
        page = await context.new_page()
        await page.goto(link)
        async with another_site(link) as lure:
            await page.goto(lure)
            await page.wait_for_url(link)
            await page.get_by_role(
                "heading", name="Saved" if not is_defended else "This was not accepted"
            ).wait_for()
        assert await is_planted(grounds, link) is not is_defended
        if is_defended:
            await page.goto(link)
            await page.get_by_label("weather key").fill("her own")
            await page.get_by_role("button", name="Save", exact=True).click()
            await page.get_by_role("heading", name="Saved").wait_for()
            assert await grounds.kept() == {"weather key": {"value": "her own"}}
        await context.close()


@pytest.mark.browser
@pytest.mark.verifies("T03")
async def test_in_a_browser_with_two_tabs_the_first_can_be_sent(browser: Browser) -> None:
    async with in_a_browser() as grounds:
        link = await grounds.secret()
        context = await browser.new_context(extra_http_headers={WHO: "ada"})
        first, second = await context.new_page(), await context.new_page()
        await first.goto(link)
        await second.goto(link)
        await first.get_by_label("weather key").fill("from the first")
        await first.get_by_label("weather key").press("Enter")
        await first.get_by_role("heading", name="Saved").wait_for()
        await second.get_by_role("button", name="Don't save").click()
        await second.get_by_role("heading", name="This was already done").wait_for()
        await context.close()
        assert await grounds.ending(link) == VisitSettled()


def test_what_a_browser_says_of_our_own_pages_is_not_in_the_list() -> None:
    assert SAME_ORIGIN not in FOREIGN.values()
