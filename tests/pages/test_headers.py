"""What every answer tells the browser, and what its cookie may do."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from askback.errors import VaultUnavailable
from askback.model.visit import VisitSettled
from askback.pages.headers import HEADERS
from askback.pages.sessions import cookie_name
from tests.pages.raw import asked
from tests.support.visit_pages import OUTSIDE, WHO, by_function, on_this_machine, outside
from tests.support.visitor import SAME_ORIGIN, Visitor, visitor

OURS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

LOCKED = [
    "default-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "style-src 'self'",
    "img-src 'self'",
]


def expect_guarded(headers: Mapping[str, str]) -> None:
    assert {name: headers.get(name) for name in OURS} == OURS
    policy = headers["content-security-policy"].split("; ")
    assert set(LOCKED) <= set(policy)
    assert "script" not in headers["content-security-policy"] and "unsafe" not in str(policy)


async def every_answer(ada: Visitor, base: str, links: Mapping[str, str]) -> list[httpx2.Response]:
    """At least one of each status that the pages give."""
    return [
        await ada.client.get(links["secret"]),
        await ada.client.get(links["connect"]),
        await ada.client.get(f"{base}/kept"),
        await ada.client.get(f"{base}/style.css"),
        await ada.client.get(f"{base}/icon.svg"),
        await ada.client.get(f"{base}/visit/nothing"),
        await ada.client.get(f"{base}/nowhere/at/all"),
        await ada.client.put(links["secret"]),
        await ada.client.post(links["secret"]),
        await ada.client.post(links["secret"], content=b"{}", headers=SAME_ORIGIN),
        (await ada.give(links["secret"])).response,
        await ada.client.get(f"{base}/callback/library?state=x&code=y"),
        await ada.client.get(links["secret"], headers={WHO: "eve"}),
        (await ada.agree(links["connect"])).response,
    ]


@pytest.mark.verifies("R88", "R81")
async def test_every_answer_is_kept_by_nobody_framed_by_nobody_and_loads_from_nowhere_else() -> None:
    grounds = outside()
    links = {"secret": await grounds.secret(), "connect": await grounds.connect("books:read")}
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        seen = await every_answer(ada, grounds.base, links)
    for answer in seen:
        expect_guarded(answer.headers)
    assert {answer.status_code for answer in seen} == {200, 303, 403, 404, 415, 422}


@pytest.mark.verifies("R88")
async def test_an_answer_says_so_too_where_something_breaks() -> None:
    async def broken(_: object) -> str:
        raise RuntimeError("the author's directory is down")

    grounds = outside(by_function(door=broken))
    link = await grounds.secret()
    said = await asked(grounds.app, link.removeprefix(OUTSIDE))
    assert said.status == 500 and b"directory" not in said.body
    expect_guarded(said.headers)
    async with visitor(grounds.app) as ada:
        with pytest.raises(RuntimeError):
            await ada.open(link)  # it reaches whoever serves the pages, and their log


@pytest.mark.verifies("R88")
async def test_what_does_not_answer_is_told_without_saying_what_it_is() -> None:
    async def down(_: object) -> str:
        raise VaultUnavailable("redis-7.internal does not answer")

    grounds = outside(by_function(door=down))
    async with visitor(grounds.app) as ada:
        shown = await ada.open(await grounds.secret())
    assert (shown.status, shown.heading) == (503, "This cannot be done now")
    assert "redis" not in shown.html
    expect_guarded(shown.response.headers)


@pytest.mark.verifies("R81")
async def test_only_the_page_before_a_sign_in_lets_its_form_lead_on() -> None:
    """Browsers hold a form to it through every redirect, and a provider may send people on to where they are known."""
    grounds = outside()
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        secret = (await ada.client.get(await grounds.secret())).headers["content-security-policy"]
        connect = (await ada.client.get(await grounds.connect())).headers["content-security-policy"]
    assert "form-action 'self';" in secret
    assert "form-action 'self' https: https://login.library.example;" in connect


@pytest.mark.verifies("R92", "R88")
async def test_who_calls_the_listener_by_another_name_is_told_so_with_the_same_headers() -> None:
    async with on_this_machine() as grounds, visitor() as eve:
        answer = await eve.client.get(f"{grounds.base}/style.css", headers={"host": "evil.example"})
    assert answer.status_code == 403
    expect_guarded(answer.headers)


@pytest.mark.verifies("R82")
async def test_over_https_the_cookie_is_for_this_host_alone_and_for_no_script() -> None:
    grounds = outside()
    async with visitor(grounds.app) as ada:
        answer = await ada.client.get(await grounds.secret(), headers={WHO: "ada"})
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name == "__Host-askback"
    marks = {mark.strip().lower() for mark in rest.split(";")[1:]}
    assert {"secure", "httponly", "samesite=lax", "path=/", "max-age=3600"} == marks
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


@pytest.mark.verifies("R82", "R92")
async def test_on_this_machine_the_cookie_has_the_port_in_its_name_since_it_goes_to_every_port() -> None:
    async with on_this_machine() as grounds, visitor() as ada:
        answer = await ada.client.get(await grounds.secret())
        port = grounds.base.split(":")[2].split("/")[0]
    said = answer.headers["set-cookie"]
    below = urlsplit(grounds.base).path
    assert re.match(rf"askback-{port}-\w+=\S+; HttpOnly; Max-Age=3600; Path={below}; SameSite=lax", said)
    assert "strict-transport-security" not in answer.headers


@pytest.mark.verifies("R82")
async def test_a_cookie_that_somebody_wrote_or_changed_is_no_cookie() -> None:
    async with on_this_machine() as grounds, visitor() as ada, visitor() as eve:
        link = await grounds.secret()
        await ada.open(link)
        [name], [value] = ada.client.cookies.keys(), ada.client.cookies.values()
        for forged in ("", "x", value[:-1], value[1:], value.swapcase(), value + "x", "." * 20, "é" * 3):
            cookie = {b"cookie": f"{name}={forged}".encode("latin-1"), b"accept": b"text/html"}
            answer = await eve.client.get(link, headers=cookie)
            assert answer.status_code == 403
        assert (await ada.open(link)).status == 200


@pytest.mark.verifies("R82")
@pytest.mark.parametrize(("seconds", "status"), [(3599, 200), (3601, 403)])
async def test_a_browser_is_known_for_an_hour(seconds: float, status: int) -> None:
    async with on_this_machine() as grounds, visitor() as ada:
        link = await grounds.secret()
        await ada.open(link)
        grounds.clock.now += seconds
        assert (await ada.client.get(link)).status_code == status


@pytest.mark.verifies("R82")
async def test_the_hour_is_not_longer_for_whoever_comes_often_and_the_browser_is_told_the_same() -> None:
    async with on_this_machine() as grounds, visitor() as ada:
        link = await grounds.secret()
        await ada.open(link)
        for seconds, left in ((1800, 1800), (1799, 1)):
            grounds.clock.now += seconds
            answer = await ada.client.get(link)
            assert answer.status_code == 200 and f"Max-Age={left};" in answer.headers["set-cookie"]
        grounds.clock.now += 2
        assert (await ada.client.get(link, headers={"cookie": _cookie(answer)})).status_code == 403


def _cookie(answer: httpx2.Response) -> str:
    """As somebody sends it who keeps it longer than they were told."""
    return answer.headers["set-cookie"].partition(";")[0]


NAMES = {
    "https://tools.example/askback": "__Host-askback",
    "https://tools.example:443/askback": "__Host-askback",
    "https://tools.example/one/askback": "__Host-askback-e849c298",
    "https://tools.example/two/askback": "__Host-askback-",
    "https://tools.example/askback/askback": "__Host-askback-",
    "https://tools.example:8443/askback": "__Host-askback-",
    "http://127.0.0.1:8000/askback": "askback-8000",
    "http://127.0.0.1:8000/one/askback": "askback-8000-",
}


@pytest.mark.verifies("R82")
def test_every_server_of_a_host_has_a_cookie_of_its_own_name() -> None:
    names = {base: cookie_name(base) for base in NAMES}
    assert all(
        name == NAMES[base] or re.fullmatch(rf"{NAMES[base]}[0-9a-f]{{8}}", name)
        for base, name in names.items()
    )
    assert len(set(names.values())) == len(names) - 1


@pytest.mark.verifies("R82")
async def test_two_servers_under_two_paths_of_one_host_do_not_put_each_other_out() -> None:
    one, two = (outside(by_function(f"{OUTSIDE}/{path}")) for path in ("one", "two"))

    async def host(scope: Scope, receive: Receive, send: Send) -> None:
        await (one if scope["path"].startswith("/one/") else two).app(scope, receive, send)

    async with visitor(host) as ada:
        ada.client.headers[WHO] = "ada"
        link = await one.secret()
        token = (await ada.open(link)).token
        assert (await ada.open(await two.secret())).status == 200
        assert (await ada.post(link, {"answer": "yes", "field-value": "k"}, token=token)).heading == "Saved"


@pytest.mark.verifies("R88")
async def test_after_a_secret_was_posted_the_browser_is_sent_on_with_303_and_back_shows_no_form() -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as ada:
        ada.client.headers[WHO] = "ada"
        token = (await ada.open(link)).token
        typed = {"token": token, "answer": "yes", "field-value": "k-123"}
        answer = await ada.client.post(link, data=typed, headers=SAME_ORIGIN)
        assert (answer.status_code, answer.headers["location"]) == (303, link)
        assert "k-123" not in answer.text + str(answer.headers)
        shown = await ada.open(link)
    assert shown.heading == "Saved" and "<form" not in shown.html
    assert await grounds.ending(link) == VisitSettled()


def test_the_table_of_headers_is_the_one_that_is_tested() -> None:
    assert OURS.items() <= HEADERS.items()
