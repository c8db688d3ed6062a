"""What an author writes into Pages, SignIn and Brand by mistake, and what they are told of it."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from askback.errors import OperatorError
from askback.model.owners import owner_from_claims
from askback.pages import Brand, Pages, SignIn
from askback.pages.headers import origin_of
from tests.support import visit_pages as scene
from tests.support.visit_pages import OUTSIDE, WHO, by_function, by_header, on_this_machine, outside
from tests.support.visitor import visitor

ISSUER = "https://login.example"

PAGES: dict[str, tuple[dict[str, Any], str]] = {
    "a name as door": ({"url": OUTSIDE, "door": "ada"}, r"door='ada'\) cannot tell who .* a function"),
    "a class as door": ({"url": OUTSIDE, "door": SignIn}, r"cannot tell who .* Give door=SignIn\(issuer="),
    "a door, and none": ({"url": OUTSIDE, "door": by_header, "accept_anyone": True}, "Leave one of them out"),
    "a text as port": ({"port": "8000"}, r"port='8000'\) is no port"),
    "a port beyond": ({"port": 70_000}, "number up to 65535"),
    "a flag as port": ({"port": True}, "is no port"),
    "where clients connect": (
        {"url": f"{OUTSIDE}/mcp", "door": by_header},
        rf"the address of the server, without /mcp: {OUTSIDE}$",
    ),
    "the same below a path": (
        {"url": f"{OUTSIDE}/a/mcp/", "door": by_header},
        rf"without /mcp: {OUTSIDE}/a$",
    ),
    "a number as address": ({"url": 8000, "door": by_header}, "is no address that a browser could go to"),
    "a file as brand": ({"brand": "x.svg"}, r"brand=Brand\(name="),
}


@pytest.mark.parametrize("which", PAGES)
def test_pages_that_could_not_work_are_refused_with_advice(which: str) -> None:
    options, said = PAGES[which]
    with pytest.raises(OperatorError, match=said):
        Pages(**options)


SIGN_INS: dict[str, tuple[dict[str, Any], str]] = {
    "scopes as one text": ({"issuer": ISSUER, "scopes": "openid profile"}, r'scopes=\("openid", "profile"\)'),
    "an issuer without a scheme": (
        {"issuer": "login.example"},
        r"SignIn\(issuer=\.\.\.\): 'login.example' is no URL\. Give",
    ),
    "an issuer in the clear": ({"issuer": "http://login.example"}, r"SignIn\(issuer=.*Use https"),
    "no text as issuer": ({"issuer": None}, r"SignIn\(issuer=\.\.\.\): None is no URL"),
}


@pytest.mark.parametrize("which", SIGN_INS)
def test_a_sign_in_that_could_not_work_is_refused_with_advice(which: str) -> None:
    options, said = SIGN_INS[which]
    with pytest.raises(OperatorError, match=said):
        SignIn(client_id="pages", **options)


def test_a_door_to_which_nobody_comes_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    Pages(door=by_header)
    assert "has no url, so nobody ever comes to that door" in caplog.text


def test_the_advice_for_pages_without_a_door_can_be_typed() -> None:
    with pytest.raises(OperatorError, match=r'SignIn\(issuer="https://…", client_id="…"\).* claims .* name'):
        Pages(url=OUTSIDE)


async def test_files_of_a_brand_may_be_named_by_a_text(tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    grounds = outside(by_function(brand=Brand(logo=str(tmp_path / "logo.svg"))))
    async with visitor(grounds.app) as ada:
        assert (await ada.client.get(f"{grounds.base}/brand.svg")).status_code == 200


async def test_texts_of_a_brand_hide_nothing() -> None:
    grounds = outside(by_function(brand=Brand(name="we\u202eather", foot="by\u200b us")))
    async with visitor(grounds.app) as ada:
        shown = await ada.open(await grounds.secret())
        assert "we&lt;U+202E&gt;ather" in shown.html and "by&lt;U+200B&gt; us" in shown.html


@pytest.mark.parametrize("told", [7, b"ada", ["ada"], True])
async def test_a_door_that_gives_neither_a_name_nor_claims_turns_away_and_says_so(
    told: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def door(_: Request) -> Any:
        return told

    grounds = outside(by_function(door=door))
    async with visitor(grounds.app) as ada:
        assert (await ada.open(await grounds.secret())).status == 403
    assert f"returned a {type(told).__name__}, which names nobody" in caplog.text


async def test_a_name_where_callers_have_claims_is_told_once_with_what_to_return(
    caplog: pytest.LogCaptureFixture,
) -> None:
    grounds = outside(owner=owner_from_claims({"iss": ISSUER, "sub": "ada"}) or "")
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        for _ in range(2):
            assert (await ada.open(await grounds.secret())).status == 403
    told = [row.getMessage() for row in caplog.records if "never equal" in row.getMessage()]
    assert len(told) == 1 and ISSUER not in told[0] and '{"iss": "https://…", "sub": "…"}' in told[0]
    assert "visitors by a name, and the server knows this caller by iss and sub" in told[0]


async def test_claims_where_callers_have_a_name_are_told_likewise(caplog: pytest.LogCaptureFixture) -> None:
    def door(_: Request) -> dict[str, str]:
        return {"iss": ISSUER, "sub": "ada"}

    grounds = outside(by_function(door=door))
    async with visitor(grounds.app) as ada:
        assert (await ada.open(await grounds.secret())).status == 403
    assert "Return the name that Askback(caller=...) gives" in caplog.text


async def test_somebody_else_of_the_same_kind_is_no_mistake_of_the_author(
    caplog: pytest.LogCaptureFixture,
) -> None:
    grounds = outside()
    async with visitor(grounds.app) as eve:
        eve.client.headers[WHO] = "eve"
        assert (await eve.open(await grounds.secret())).status == 403
    assert "belongs to another person" in caplog.text and "never equal" not in caplog.text


async def test_it_is_logged_where_pages_are_and_where_one_was_looked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "askback")
    grounds = outside()
    async with visitor(grounds.app) as ada:
        id = (await grounds.secret()).rpartition("/")[2]
        assert (await ada.open(f"{OUTSIDE}/pages/visit/{id}\u202e")).status == 404
        assert (await ada.open(f"{OUTSIDE}/pages/a%0Ab\u202e")).status == 404
    assert f"pages at {grounds.base}" in caplog.messages
    below = f"where none is; pages are below {grounds.base}"
    assert f"a page was requested at /pages/visit/…, {below}" in caplog.messages
    assert f"a page was requested at /pages/a␊b<U+202E>, {below}" in caplog.messages
    assert id not in caplog.text


HINT = "Links open only in a browser"


async def test_who_fetches_a_link_is_told_that_it_opens_in_a_browser_and_nothing_of_the_link() -> None:
    async with on_this_machine() as grounds, visitor() as curl, visitor() as browser:
        link = await grounds.secret()
        fetched = await curl.open(link, {"accept": "*/*"})
        assert fetched.status == 403 and HINT in fetched.html
        assert (await browser.open(link)).status == 200
        turned = await curl.open(link)
        assert turned.status == 403 and HINT not in turned.html
        assert (await curl.open(link, {"accept": "*/*"})).html == fetched.html


ODD = {
    "https://a.example;script-src": None,
    "https://a.example'": None,
    "https://a,b.example/": None,
    "https://a.example:8443/x": "https://a.example:8443",
    "https://a.example:443/x": "https://a.example",
    "http://[::1]:80/x": "http://[::1]",
    "https://bücher.example/x": "https://xn--bcher-kva.example",
}


@pytest.mark.verifies("R88")
@pytest.mark.parametrize("url", ODD)
def test_the_policy_names_a_host_and_nothing_that_a_provider_put_there(url: str) -> None:
    if (origin := ODD[url]) is None:
        with pytest.raises(OperatorError, match="has a host that no browser would go to"):
            origin_of(url, "library")
    else:
        assert origin_of(url, "library") == origin


async def test_where_the_host_of_a_provider_is_odd_nobody_is_sent_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd = replace(scene.LIBRARY, authorization_endpoint="https://login.example;script-src/authorize")
    monkeypatch.setattr(scene, "LIBRARY", odd)
    grounds = outside()
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        shown = await ada.open(await grounds.connect())
        assert shown.status == 503 and "script-src" not in shown.response.headers["content-security-policy"]
