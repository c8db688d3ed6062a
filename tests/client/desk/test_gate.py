"""Who may speak to the desk: its own page, with the token of this launch. The rest gets one sentence."""

import json
import re
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from askback.client.desk import DeskPerson
from askback.client.desk.desk_person import CODE_SECONDS, REFUSED
from askback.errors import AuthorError, OperatorError

pytestmark = [pytest.mark.anyio, pytest.mark.verifies("R92")]


class Stranger:
    """Speaks to a desk with exactly the headers it is given."""

    def __init__(self, desk: DeskPerson, client: httpx.AsyncClient) -> None:
        self.desk, address = desk, urlsplit(desk.url)
        self.authority, self.token = address.netloc, address.fragment
        self._client = client

    @property
    def right(self) -> dict[str, str]:
        """The headers of the page itself."""
        return {
            "authorization": f"Bearer {self.token}",
            "origin": f"http://{self.authority}",
            "sec-fetch-site": "same-origin",
        }

    async def send(
        self, method: str, path: str, headers: dict[str, str], content: str = "{}"
    ) -> httpx.Response:
        return await self._client.request(
            method,
            f"http://{self.authority}{path}",
            headers={name.encode(): value.encode("latin-1") for name, value in headers.items()},
            content=content if method == "POST" else None,
        )

    async def exchange(self, code: str, headers: dict[str, str]) -> httpx.Response:
        """What the page does with a code; it has no token then."""
        ours = {name: value for name, value in headers.items() if name != "authorization"}
        return await self.send("POST", "/token", ours, json.dumps({"code": code}))


@pytest.fixture(scope="module")
async def stranger(anyio_backend: str) -> AsyncGenerator[Stranger]:
    async with DeskPerson() as desk, httpx.AsyncClient(timeout=10) as client:
        yield Stranger(desk, client)


WRONG: dict[str, dict[str, str | None]] = {
    "no token": {"authorization": None},
    "another token": {"authorization": "Bearer something-else"},
    "an empty token": {"authorization": "Bearer"},
    "a token that is no ASCII": {"authorization": "Bearer \xe9"},
    "another origin": {"origin": "http://evil.example"},
    "another port of this machine": {"origin": "http://127.0.0.1:1"},
    "no origin": {"origin": None},
    "an opaque origin": {"origin": "null"},
    "another site": {"sec-fetch-site": "cross-site"},
    "the same site on another port": {"sec-fetch-site": "same-site"},
    "a name that was made to lead here": {"host": "desk.evil.example"},
    "localhost": {"host": "localhost"},
    "the address without the port": {"host": "127.0.0.1"},
}


@pytest.mark.verifies("T03")
@pytest.mark.parametrize("wrong", WRONG)
async def test_whoever_is_not_our_page_is_refused_with_one_sentence(stranger: Stranger, wrong: str):
    headers = {name: value for name, value in {**stranger.right, **WRONG[wrong]}.items() if value is not None}
    reply = await stranger.send("POST", "/cards/form-1/decline", headers)
    assert (reply.status_code, reply.text) == (403, REFUSED)


@pytest.mark.parametrize("path", ["/events", "/cards/form-1", "/anything"])
async def test_without_the_token_nothing_is_shown_and_nothing_is_said_to_exist(stranger: Stranger, path: str):
    reply = await stranger.send("GET", path, {})
    assert (reply.status_code, reply.text) == (403, REFUSED)


async def test_a_stranger_who_keeps_knocking_is_told_of_once(caplog: pytest.LogCaptureFixture):
    async with DeskPerson() as desk, httpx.AsyncClient(timeout=10) as client:
        for _ in range(5):
            assert (await Stranger(desk, client).send("GET", "/events", {})).status_code == 403
    assert [record.levelname for record in caplog.records if "refused" in record.message].count(
        "WARNING"
    ) == 1


async def test_the_page_itself_is_let_through(stranger: Stranger):
    reply = await stranger.send("POST", "/cards/form-1/decline", stranger.right)
    assert reply.status_code == 409
    assert reply.json() == {"said": "This question is not on the desk any more."}


@pytest.mark.parametrize("path", ["/", "/desk.js", "/desk.css"])
async def test_the_files_of_the_page_are_given_at_the_right_address_alone(stranger: Stranger, path: str):
    assert (await stranger.send("GET", path, {})).status_code == 200
    assert (await stranger.send("GET", path, {"host": "evil.example"})).status_code == 403
    assert (await stranger.send("POST", path, {})).status_code == 403


async def test_the_page_holds_neither_the_token_nor_anything_from_elsewhere(stranger: Stranger):
    for path in ("/", "/desk.js", "/desk.css", "/api.js"):
        text = (await stranger.send("GET", path, {})).text
        assert stranger.token not in text
        assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", text)


@pytest.mark.verifies("T16")
async def test_what_leaves_the_desk_is_of_no_use_anywhere_else(stranger: Stranger):
    for path, headers in (("/", {}), ("/cards/form-1", stranger.right), ("/refused", {})):
        got = (await stranger.send("GET", path, headers)).headers
        policy = got["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http" not in policy
        assert got["cache-control"] == "no-store"
        assert got["referrer-policy"] == "no-referrer"
        assert got["x-content-type-options"] == "nosniff"
        assert got["cross-origin-resource-policy"] == "same-origin"
        assert "set-cookie" not in got


async def test_a_request_that_is_too_long_or_unreadable_is_told_so(stranger: Stranger):
    address = f"http://{stranger.authority}/cards/form-1/fill"
    async with httpx.AsyncClient(headers=stranger.right) as client:
        assert (await client.post(address, content=b"x" * 9_000_000)).status_code == 413
        assert (await client.post(address, content=b"no json")).status_code == 400
        assert (await client.post(address, content=b'{"field": "one"}')).status_code == 400


def code_of(desk: DeskPerson) -> str:
    """As it stands on the command line of a browser."""
    fragment = urlsplit(desk.opening_url()).fragment
    return fragment.removeprefix("once=")


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_code_is_exchanged_once_for_the_token_and_only_while_it_is_fresh():
    clock = Clock()
    async with DeskPerson(clock=clock) as desk, httpx.AsyncClient(timeout=10) as client:
        stranger = Stranger(desk, client)
        code, other, late = code_of(desk), code_of(desk), code_of(desk)
        assert stranger.token not in {code, other, late} and len({code, other, late}) == 3
        assert (await stranger.exchange(code, stranger.right)).json() == {"token": stranger.token}
        clock.now += CODE_SECONDS - 1
        assert (await stranger.exchange(other, stranger.right)).status_code == 200
        clock.now += 1
        for spent in (code, late, "", "something-else"):
            refused = await stranger.exchange(spent, stranger.right)
            assert refused.status_code == 403
            assert "opens the desk once" in refused.text and stranger.token not in refused.text
        assert (await stranger.exchange(code_of(desk), stranger.right)).status_code == 200


@pytest.mark.verifies("T03")
@pytest.mark.parametrize("wrong", [name for name, headers in WRONG.items() if "authorization" not in headers])
async def test_a_code_is_taken_from_our_own_page_alone_and_is_not_spent_by_others(
    stranger: Stranger, wrong: str
):
    code = code_of(stranger.desk)
    headers = {name: value for name, value in {**stranger.right, **WRONG[wrong]}.items() if value is not None}
    refused = await stranger.exchange(code, headers)
    assert (refused.status_code, refused.text) == (403, REFUSED)
    assert (await stranger.exchange(code, stranger.right)).status_code == 200


async def test_a_code_opens_nothing_by_itself_and_an_unreadable_one_is_told_so(stranger: Stranger):
    held = {**stranger.right, "authorization": "Bearer once=something"}
    assert (await stranger.send("GET", "/events", held)).status_code == 403
    assert (await stranger.send("GET", "/token", {})).status_code == 403
    for content in ("no json", "{}", '{"code": 1}', '{"code": "\\ud800"}'):
        assert (await stranger.send("POST", "/token", stranger.right, content)).status_code == 400
    assert (await stranger.send("POST", "/token", stranger.right, "x" * 2_000)).status_code == 413


async def test_every_launch_has_a_token_of_its_own_and_listens_on_loopback():
    async with DeskPerson() as one, DeskPerson() as other:
        addresses = [urlsplit(desk.url) for desk in (one, other)]
    assert {address.hostname for address in addresses} == {"127.0.0.1"}
    assert addresses[0].fragment != addresses[1].fragment
    assert all(len(address.fragment) >= 43 for address in addresses)


async def test_a_port_that_is_taken_and_a_desk_that_is_not_open_are_told_as_advice():
    async with DeskPerson() as desk:
        port = urlsplit(desk.url).port
        assert port is not None
        with pytest.raises(OperatorError, match="Choose another port"):
            async with DeskPerson(port=port):
                pass
    with pytest.raises(AuthorError, match="opened before"):
        async with desk:
            pass
    with pytest.raises(AuthorError, match="not open yet"):
        _ = DeskPerson().url
    with pytest.raises(AuthorError, match="not open yet"):
        DeskPerson().opening_url()
