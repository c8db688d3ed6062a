"""A link is a handle and no proof: edited, fetched by a program or followed somewhere else, it gives nothing away."""

import string
from typing import Any

import pytest
from starlette.routing import Router

from askback.pages import Pages, authenticators
from askback.pages.authenticators import FunctionAuthenticator
from askback.pages.visitors import VisitorGate
from tests.pages.raw import asked
from tests.support.corpus import corpus
from tests.support.defence import no_objection, with_and_without, yes
from tests.support.visit_pages import (
    ADA,
    EVE,
    OUTSIDE,
    WHO,
    Grounds,
    by_function,
    on_this_machine,
    outside,
)
from tests.support.visitor import READING, visitor

pytestmark = pytest.mark.slow

SIGNS = string.ascii_letters + string.digits + "-_"


def edited(id: str) -> list[str]:
    """The id with each of its signs replaced by another, and some bolder changes."""
    one_off = [
        id[:place] + SIGNS[(SIGNS.index(sign) + 1) % len(SIGNS)] + id[place + 1 :]
        for place, sign in enumerate(id)
    ]
    return [
        *one_off,
        id[:-1],
        id + "A",
        id + "=",
        id.swapcase(),
        id[::-1],
        f"{id}%00",
        f"{id}%20",
        f"%20{id}",
    ]


@pytest.mark.verifies("T02", "R22", "R29")
@corpus("name", ["ada", "eve"])
async def test_a_link_with_any_sign_changed_is_no_link_and_the_answer_is_always_the_same(name: str) -> None:
    grounds = outside()
    link, others = await grounds.secret(message="Only for ada."), await _link_of(grounds, EVE)
    start, _, id = link.rpartition("/")
    async with visitor(grounds.app) as browser:
        browser.client.headers[WHO] = name
        answers = [await browser.client.get(f"{start}/{wrong}") for wrong in edited(id)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert "set-cookie" not in answers[0].headers
    assert await grounds.ending(link) is None and await grounds.ending(others) is None


@pytest.mark.verifies("T02", "R92")
async def test_on_this_machine_an_edited_link_lets_nobody_in() -> None:
    async with on_this_machine() as grounds, visitor() as browser:
        link = await grounds.secret()
        start, _, id = link.rpartition("/")
        answers = [await browser.client.get(f"{start}/{wrong}") for wrong in edited(id)]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.text for answer in answers}) == 1
        assert not browser.client.cookies
        assert (await browser.open(link)).status == 200


@pytest.mark.verifies("T02", "R20", "R21", "R22")
@with_and_without
async def test_a_link_edited_into_somebody_elses_shows_nothing_and_changes_nothing(
    is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_defended:
        monkeypatch.setattr(VisitorGate, "require_same", no_objection)
    grounds = outside()
    link = await grounds.secret(message="Only for ada.")
    async with visitor(grounds.app) as eve:
        eve.client.headers[WHO] = "eve"
        own = await eve.open(await _link_of(grounds, EVE))
        shown = await eve.open(link)
        posted = await eve.post(
            link, {"answer": "yes", "field-value": "eve's"}, token=shown.token or own.token
        )
    assert ("Only for ada." not in shown.html) is is_defended
    assert (shown.status == posted.status == 403) is is_defended
    assert (await grounds.kept() == {}) is is_defended
    assert (await grounds.ending(link) is None) is is_defended


@pytest.mark.verifies("T02", "R29")
async def test_an_id_is_256_bits_and_no_two_are_alike() -> None:
    grounds = outside()
    ids = {grounds.asked.visits.new_id() for _ in range(1000)}
    assert len(ids) == 1000 and {len(id) for id in ids} == {43}


@pytest.mark.verifies("R18")
async def test_the_id_of_a_visit_elsewhere_opens_no_page_of_ours() -> None:
    """It went to somebody else's page."""
    grounds = outside(Pages(url=OUTSIDE, accept_anyone=True))
    link = await grounds.visit("elsewhere", "Pay the order.", "", {})
    async with visitor(grounds.app) as browser:
        shown = await browser.open(link)
        assert shown.status == 404 and not browser.client.cookies


async def _link_of(grounds: Grounds, owner: str) -> str:
    whose, grounds.owner = grounds.owner, owner
    link = await grounds.secret()
    grounds.owner = whose
    return link


# Somebody looks before the person does.

AHEAD: dict[str, tuple[str, dict[str, str]]] = {
    "a HEAD": ("HEAD", READING),
    "a prefetch": ("GET", READING | {"sec-purpose": "prefetch"}),
    "a prerender": ("GET", READING | {"sec-purpose": "prefetch;prerender"}),
    "a prefetch of an old browser": ("GET", READING | {"purpose": "prefetch"}),
    "another one": ("GET", READING | {"x-moz": "prefetch"}),
    "a preview": ("GET", READING | {"x-purpose": "preview"}),
    "a bot that makes a preview": ("GET", {"accept": "*/*", "user-agent": "Unfurl/1.0"}),
    "a program that says nothing of itself": ("GET", {"accept": ""}),
    "a picture": ("GET", {"accept": "image/*", "sec-fetch-dest": "image", "sec-fetch-mode": "no-cors"}),
    "a frame": ("GET", READING | {"sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate"}),
    "a script that fetches": ("GET", READING | {"sec-fetch-dest": "empty", "sec-fetch-mode": "cors"}),
    "a post": ("POST", READING),
}


@pytest.mark.verifies("T11", "R92")
@corpus(("method", "headers"), AHEAD.values())
@with_and_without
async def test_what_looks_ahead_of_a_person_does_not_use_up_the_link_that_opens_once(
    method: str, headers: dict[str, str], is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_defended:
        monkeypatch.setattr(authenticators, "is_person_opening", yes)
    async with on_this_machine() as grounds, visitor() as program, visitor() as person:
        link = await grounds.secret(message="For whoever sits here.")
        answer = await program.client.request(method, link, headers=headers)
        assert "For whoever sits here." not in answer.text
        assert ("set-cookie" not in answer.headers) is is_defended
        assert ((await person.open(link)).status == 200) is is_defended


@pytest.mark.verifies("T11", "R18", "R20")
@corpus("page", ["secret", "connect", "kept"])
@with_and_without
async def test_a_link_by_itself_shows_nothing_and_changes_nothing(
    page: str, is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def anybody(*_: object) -> str:
        return ADA

    grounds = outside(server="forecasts")
    await grounds.keep("weather key")
    links = {"secret": grounds.secret, "connect": grounds.connect}
    link = await links[page](message="Only for ada.") if page in links else f"{grounds.base}/kept"
    if not is_defended:
        monkeypatch.setattr(FunctionAuthenticator, "identify", anybody)
    async with visitor(grounds.app) as browser:
        shown = await browser.open(link)
        assert (shown.status == 403) is is_defended
        assert ("set-cookie" not in shown.response.headers) is is_defended
    telling = ["Only for ada.", "weather key", "City Library", "Desktop Chat", 'name="token"']
    assert (not any(word in shown.html for word in telling)) is is_defended
    assert page == "kept" or await grounds.ending(link) is None


# Nobody is sent anywhere else.

ODD_PATHS = [
    "//evil.example",
    "///evil.example/",
    "/%2f%2fevil.example",
    "/%2f%2fevil.example/",
    "/\\evil.example",
    "/%5cevil.example/",
    "/https:evil.example",
    "/https://evil.example/",
    "/%0d%0aLocation:%20https://evil.example",
    "/kept/",
    "/kept//evil.example",
    "/kept%0d%0aLocation:%20https://evil.example",
    "/visit//evil.example",
    "/visit/%2f%2fevil.example/",
    "/visit/..%2f..%2f..%2fevil.example",
    "/visit/{id}/",
    "/visit/{id}//evil.example",
    "/visit/{id}%0d%0aLocation:%20https://evil.example",
    "/visit/{id}/askback//evil.example/",
    "/callback//evil.example",
    "/callback/library?state=x&iss=https://evil.example&code=https://evil.example",
    "/sign-in/callback?state=x&next=https://evil.example",
    "/style.css/",
    "/visit/{id}?next=https://evil.example",
    "/visit/{id}?back=//evil.example&return_to=/\\evil.example&redirect_uri=https:evil.example",
    "/kept?next=%2f%2fevil.example&url=%0d%0aLocation:%20https://evil.example",
]

NAMES = [
    [("host", "tools.example")],
    [("host", "evil.example")],
    [("host", "evil.example/x"), ("x-forwarded-host", "evil.example")],
    [("host", "tools.example"), ("x-forwarded-host", "evil.example"), ("forwarded", "host=evil.example")],
    [("host", "tools.example@evil.example")],
    [],
]


async def led_astray(grounds: Grounds, method: str, path: str, headers: list[tuple[str, str]]) -> bool:
    answer = await asked(grounds.app, path, method=method, headers=headers)
    led = answer.headers.get("location")
    assert "\r" not in str(answer.headers.raw) and answer.headers.getlist("location") in ([], [led])
    return led is not None and not led.startswith(f"{OUTSIDE}/askback/")


@pytest.mark.verifies("T06", "R87")
@corpus("path", ODD_PATHS)
@corpus("door", [{"door": None, "accept_anyone": True}, {}])
async def test_no_path_and_no_parameter_leads_anywhere_but_to_our_own_pages(
    path: str, door: dict[str, Any]
) -> None:
    grounds = outside(by_function(**door))
    known = [(WHO, "ada"), ("accept", "text/html")]
    id = (await grounds.secret()).rpartition("/")[2]
    for name in NAMES:
        for method in ("GET", "POST", "HEAD", "OPTIONS"):
            place = "/askback" + path.replace("{id}", id)
            assert not await led_astray(grounds, method, place, [*name, *known])
            assert not await led_astray(grounds, method, path.replace("{id}", id), [*name, *known])


@pytest.mark.verifies("T06", "R87")
@with_and_without
async def test_a_stroke_too_many_leads_nowhere(is_defended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_defended:
        always = property(yes, no_objection)
        monkeypatch.setattr(Router, "redirect_slashes", always, raising=False)
    grounds = outside()
    assert await led_astray(grounds, "GET", "/askback/kept/", [("host", "evil.example")]) is not is_defended


@pytest.mark.verifies("T06", "R87")
async def test_who_is_let_in_by_a_link_is_sent_to_that_very_page_whatever_the_request_says() -> None:
    grounds = outside(Pages(url=OUTSIDE, accept_anyone=True))
    link = await grounds.secret()
    path = link.removeprefix(OUTSIDE) + "?next=https://evil.example#//evil.example"
    answer = await asked(grounds.app, path, headers=[("host", "evil.example"), ("accept", "text/html")])
    assert (answer.status, answer.headers["location"]) == (303, link)
