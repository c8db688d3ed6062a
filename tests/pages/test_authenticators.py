"""Who is let in: the caller, as the author's own function or claims tell them; or whoever has the link."""

from typing import Any

import pytest
from starlette.requests import Request

from askback.errors import OperatorError, VisitorUnknown
from askback.model.owners import owner_from_claims
from askback.pages import Pages
from tests.support.visit_pages import EVE, OUTSIDE, WHO, by_function, by_header, outside
from tests.support.visitor import visitor

ISSUER = "https://login.example"


async def by_claims(request: Request) -> dict[str, Any] | None:
    subject = request.headers.get(WHO)
    return None if subject is None else {"iss": ISSUER, "sub": subject, "tid": "tenant 1", "oid": subject}


def at_once(request: Request) -> str | None:
    return request.headers.get(WHO)


@pytest.mark.verifies("R20", "R21")
@pytest.mark.parametrize("door", [by_header, at_once])
async def test_the_caller_is_let_in_by_name_and_others_are_turned_away_at_every_step(door: Any) -> None:
    grounds = outside(by_function(door=door))
    link = await grounds.secret(message="Only for ada.")
    async with visitor(grounds.app) as ada, visitor(grounds.app) as eve:
        ada.client.headers[WHO], eve.client.headers[WHO] = "ada", "eve"
        for shown in [await eve.open(link), await eve.give(link, "eve's"), await eve.decline(link)]:
            assert shown.status == 403 and "Only for ada." not in shown.html
        assert await grounds.ending(link) is None
        assert await grounds.kept() == {} and await grounds.kept(EVE) == {}
        assert (await ada.give(link, "ada's")).heading == "Saved"
    assert await grounds.kept() == {"weather key": {"value": "ada's"}}


@pytest.mark.verifies("R20", "R26", "T26")
@pytest.mark.parametrize("claims", [("iss", "sub"), ("tid", "oid")])
async def test_the_caller_is_let_in_by_the_claims_that_make_a_person(claims: tuple[str, ...]) -> None:
    said = {"iss": ISSUER, "sub": "ada", "tid": "tenant 1", "oid": "ada"}
    owner = owner_from_claims(said, claims)
    assert owner is not None
    grounds = outside(by_function(door=by_claims, claims=claims), owner=owner)
    link = await grounds.secret()
    async with visitor(grounds.app) as browser:
        for name, status in {"eve": 403, "ada": 200}.items():
            browser.client.headers[WHO] = name
            assert (await browser.open(link)).status == status


@pytest.mark.verifies("T26", "R20")
@pytest.mark.parametrize("told", [None, "", {}, {"iss": ISSUER}, {"sub": "ada"}, {"iss": ISSUER, "sub": ""}])
async def test_somebody_of_whom_the_function_knows_too_little_is_nobody(told: Any) -> None:
    async def door(_: Request) -> Any:
        return told

    grounds = outside(by_function(door=door), owner=owner_from_claims({"iss": ISSUER, "sub": "ada"}) or "")
    async with visitor(grounds.app) as browser:
        assert (await browser.open(await grounds.secret())).status == 403
        assert (await browser.open(f"{grounds.base}/kept")).status == 403


@pytest.mark.verifies("R21")
async def test_somebody_who_is_no_longer_signed_in_cannot_finish_what_they_began() -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as browser:
        browser.client.headers[WHO] = "ada"
        token = (await browser.open(link)).token
        for name in ("eve", ""):
            browser.client.headers[WHO] = name
            shown = await browser.post(link, {"answer": "yes", "field-value": "late"}, token=token)
            assert shown.status == 403
    assert await grounds.kept() == {} and await grounds.ending(link) is None


async def test_where_the_author_accepts_it_whoever_has_the_link_is_let_in_and_sees_no_list() -> None:
    grounds = outside(Pages(url=OUTSIDE, accept_anyone=True))
    await grounds.keep("weather key")
    async with visitor(grounds.app) as browser, visitor(grounds.app) as other:
        link = await grounds.secret(name="another key")
        shown = await browser.open(link)
        assert shown.status == 200 and "/kept" not in shown.html
        assert (await browser.open(f"{grounds.base}/kept")).status == 403
        assert (await other.open(link)).status == 200
        assert (await other.give(link, "k")).heading == "Saved"
        assert "/kept" not in (await browser.open(link)).html


@pytest.mark.parametrize("pages", [by_function(), Pages(url=OUTSIDE, accept_anyone=True)])
async def test_where_nobody_signs_in_there_is_no_way_to_sign_out(pages: Pages) -> None:
    grounds = outside(pages)
    link = await grounds.secret()
    async with visitor(grounds.app) as eve:
        eve.client.headers[WHO] = "eve"
        await eve.open(f"{grounds.base}/kept")  # her browser is known from now on, where there is a list
        assert "Sign in as somebody else" not in (await eve.open(link)).html
        assert (await eve.post(f"{grounds.base}/sign-out", {}, token="")).status == 404


@pytest.mark.verifies("R20")
def test_pages_at_an_address_without_a_door_are_refused_when_they_are_written() -> None:
    with pytest.raises(VisitorUnknown, match=r"has no door, .* accept_anyone=True"):
        Pages(url=OUTSIDE)


@pytest.mark.verifies("R19")
@pytest.mark.parametrize(
    "url",
    [
        "http://tools.example",
        "http://10.0.0.1:8000",
        "ftp://tools.example",
        "tools.example",
        "https://",
        "https://ada:pw@tools.example",
        "https://tools.example?a=b",
        "https://tools.example#x",
    ],
)
def test_an_address_that_would_take_secrets_in_the_clear_or_is_none_is_refused(url: str) -> None:
    with pytest.raises(OperatorError, match=r"^Pages\(url="):
        Pages(url=url, door=by_header)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000", OUTSIDE]
)
def test_https_and_this_machine_are_fine(url: str) -> None:
    assert Pages(url=url + "/", door=by_header).base == url
