"""The door by OpenID Connect, page by page: whoever signs in there is whoever the ID token proves, and nobody else."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode

import pytest
from mcp.server.lowlevel import Server

from askback import Askback
from askback.model.owners import CLAIMS, owner_from_claims
from askback.model.visit import StoredVisit
from askback.pages import Pages, SignIn
from askback.pages.sessions import MAX_COOKIE, BrowserSession, BrowserSessions
from tests.oauth.switches import SWITCH, share_attempts
from tests.support.authorization_server import METADATA, Authority, authority, signed
from tests.support.site import BASE, sent
from tests.support.visitor import Shown, Visitor, visitor

CALLBACK = f"{BASE}/sign-in/callback"


@dataclass(slots=True)
class Time:
    """Moves only when told; it starts now, since tokens say when they were made."""

    now: float = field(default_factory=time.time)

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Pages whose visitors sign in at one authority."""

    at: Authority
    asked: Askback
    clock: Time
    claims: tuple[str, ...]

    @asynccontextmanager
    async def browser(self) -> AsyncGenerator[Visitor]:
        async with visitor(self.asked.pages) as browser:
            yield browser

    async def link_for(self, **caller: str) -> str:
        """A page for a secret of the caller with these claims."""
        owner = owner_from_claims({"iss": self.at.issuer, **caller}, self.claims)
        assert owner is not None
        id, now = self.asked.visits.new_id(), self.clock()
        fields = [{"name": "value", "label": "Key", "hint": "", "hidden": True}]
        about = {"name": "key", "fields": fields, "keep": None}
        await self.asked.visits.open(
            StoredVisit(
                id=id,
                kind="secret",
                server=self.asked.page_host.server,
                owner=owner,
                client="",
                message="The key of the shed.",
                asked_at=now,
                until=now + 3_600,
                about=about,
                thing="key",
            )
        )
        return f"{BASE}/visit/{id}"

    def proves(self, nonce: str, /, **claims: Any) -> None:
        """What the ID token says that the authority gives next."""
        now = self.clock()
        me = {"iss": self.at.issuer, "aud": "pages", "exp": now + 60, "iat": now, "nonce": nonce, **claims}
        self.at.gives(id_token=signed({name: value for name, value in me.items() if value is not None}))

    async def sign_in(self, browser: Visitor, link: str, **claims: Any) -> Shown:
        """What they see who follow the link and sign in as that."""
        out = sent(await browser.open(link))
        self.proves(out["nonce"], **claims)
        return await browser.open(self.back(out["state"]))

    def back(self, state: str, **more: str) -> str:
        return f"{CALLBACK}?{urlencode({'code': 'a-code', 'state': state, 'iss': self.at.issuer, **more})}"


@asynccontextmanager
async def house(
    claims: tuple[str, ...] = CLAIMS, *, prompt: Literal["login", "select_account"] = "login", **metadata: Any
) -> AsyncGenerator[House]:
    names = {"authorization_response_iss_parameter_supported": True}
    async with authority(**{**names, **metadata}) as at:
        clock = Time()
        door = SignIn(issuer=at.issuer, client_id="pages", prompt=prompt)
        asked = Askback(
            Server("tools"), pages=Pages(url="https://tools.example", door=door, claims=claims), clock=clock
        )
        yield House(at=at, asked=asked, clock=clock, claims=claims)


@pytest.mark.verifies("R20", "R84", "R85")
async def test_the_caller_signs_in_and_comes_back_to_the_very_page():
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        out = sent(await browser.open(link))
        assert (out["redirect_uri"], out["code_challenge_method"], out["scope"]) == (
            CALLBACK,
            "S256",
            "openid",
        )
        shown = await one.sign_in(browser, link, sub="alice")
        assert (shown.status, str(shown.response.url)) == (200, link)
        assert "The key of the shed." in shown.html


@pytest.mark.verifies("R20", "R21", "T01")
async def test_whoever_signs_in_as_somebody_else_sees_nothing():
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        shown = await one.sign_in(browser, link, sub="mallory")
        assert shown.status == 403 and "shed" not in shown.html
        assert (await browser.post(link, {"answer": "yes", "field-value": "mine"}, token="")).status == 403
        assert await one.asked.visits.ended(link.rpartition("/")[2]) is None


WRONG: dict[str, dict[str, Any]] = {
    "without a subject": {"sub": None},
    "with an empty subject": {"sub": ""},
    "with another nonce": {"sub": "alice", "nonce": "of-another-sign-in"},
    "for another client": {"sub": "alice", "aud": "mcp-client"},
    "of another issuer": {"sub": "alice", "iss": "https://id.example"},
}


@pytest.mark.verifies("T26")
@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG.keys())
async def test_an_id_token_that_is_not_for_here_lets_nobody_in(claims: dict[str, Any]):
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        assert (await one.sign_in(browser, link, **claims)).status == 403
        assert "shed" not in (await browser.open(link)).html


async def test_an_access_token_alone_lets_nobody_in():
    async with house() as one, one.browser() as browser:
        out = sent(await browser.open(await one.link_for(sub="alice")))
        assert (await browser.open(one.back(out["state"]))).status == 403


@pytest.mark.verifies("T26", "R26")
async def test_where_each_application_has_its_own_subject_other_claims_make_the_person():
    async with house(claims=("tid", "oid")) as one:
        link = await one.link_for(tid="corp", oid="0-7", sub="as the MCP client knows her")
        for there, status in (
            ({"tid": "corp", "oid": "0-7", "sub": "as the pages know her"}, 200),
            ({"tid": "corp", "oid": "0-8", "sub": "as the MCP client knows her"}, 403),
            ({"tid": "other", "oid": "0-7", "sub": "as the MCP client knows her"}, 403),
            ({"tid": "corp", "sub": "as the MCP client knows her"}, 403),
            ({"tid": "corp", "oid": ["0-7"], "sub": "x"}, 403),
        ):
            async with one.browser() as browser:
                assert (await one.sign_in(browser, link, **there)).status == status


ISSUERS = {"none": None, "another": "https://id.example", "nothing": ""}


@pytest.mark.verifies("R85", "T22")
@pytest.mark.parametrize("said", ISSUERS.values(), ids=ISSUERS.keys())
async def test_an_answer_that_is_not_from_the_authority_is_no_sign_in(said: str | None):
    async with house() as one, one.browser() as browser:
        out = sent(await browser.open(await one.link_for(sub="alice")))
        one.proves(out["nonce"], sub="alice")
        query = {"code": "a-code", "state": out["state"]} | ({} if said is None else {"iss": said})
        assert (await browser.open(f"{CALLBACK}?{urlencode(query)}")).status == 403
        assert one.at.codes == []


@pytest.mark.verifies("R85")
@pytest.mark.parametrize("name", ["iss", "code", "state"])
async def test_an_answer_that_says_something_twice_is_no_sign_in(name: str):
    async with house() as one, one.browser() as browser:
        out = sent(await browser.open(await one.link_for(sub="alice")))
        one.proves(out["nonce"], sub="alice")
        doubled = f"{one.back(out['state'])}&{urlencode({name: one.at.issuer})}"
        assert (await browser.open(doubled)).status == 403
        assert one.at.codes == []


@pytest.mark.verifies("R83")
@pytest.mark.parametrize(("seconds", "status"), [(599, 200), (601, 403)])
async def test_a_sign_in_is_good_for_ten_minutes_and_once(seconds: int, status: int):
    async with house() as one, one.browser() as browser:
        out = sent(await browser.open(await one.link_for(sub="alice")))
        one.clock.now += seconds
        one.proves(out["nonce"], sub="alice")
        assert (await browser.open(one.back(out["state"]))).status == status
        assert (await browser.open(one.back(out["state"]))).status == 403
        assert len(one.at.codes) == (status == 200)


async def sign_somebody_in_as_the_attacker(one: House) -> bool:
    """Mallory begins to sign in and has alice's browser finish it: whether what she then types would be his."""
    async with one.browser() as mallorys, one.browser() as alices:
        link = await one.link_for(sub="mallory")
        out = sent(await mallorys.open(link))
        one.proves(out["nonce"], sub="mallory")
        await alices.open(await one.link_for(sub="alice"))
        await alices.open(one.back(out["state"]))
        return (await alices.open(link)).status == 200


@SWITCH
@pytest.mark.verifies("R83", "T01")
async def test_a_sign_in_that_was_begun_elsewhere_does_not_end_in_this_browser(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    if not is_on:
        share_attempts(monkeypatch)
    async with house() as one:
        assert await sign_somebody_in_as_the_attacker(one) is not is_on


async def fix_a_session(one: House) -> bool:
    """Mallory leaves his cookie in alice's browser before she signs in. Whether he is then in with it."""
    async with one.browser() as mallorys, one.browser() as alices:
        link = await one.link_for(sub="alice")
        await mallorys.open(link)
        planted = dict(mallorys.client.cookies)
        assert planted
        for name, value in planted.items():
            alices.client.cookies.set(name, value, domain="tools.example")
        assert (await one.sign_in(alices, link, sub="alice")).status == 200
        return (await mallorys.open(link)).status == 200


def keep_sessions_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many servers do: the cookie is a name, it stays the same at sign-in, and who has it is written down here."""
    rows: dict[str, BrowserSession] = {}
    read, write = BrowserSessions.read, BrowserSessions.write

    def read_row(self: BrowserSessions, request: Any) -> BrowserSession | None:
        found = read(self, request)
        return None if found is None else rows.get(found.browser, found)

    def write_row(self: BrowserSessions, response: Any, session: BrowserSession) -> None:
        kept = BrowserSession("the one name", session.owner)
        rows[kept.browser] = kept
        write(self, response, kept)

    monkeypatch.setattr(BrowserSessions, "read", read_row)
    monkeypatch.setattr(BrowserSessions, "write", write_row)


@SWITCH
@pytest.mark.verifies("T01", "R82")
async def test_a_cookie_from_before_a_sign_in_is_worth_nothing_after_it(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    if not is_on:
        keep_sessions_by_name(monkeypatch)
    async with house() as one:
        assert await fix_a_session(one) is not is_on


async def test_somebody_unknown_who_posts_is_turned_away_and_what_they_sent_is_not_kept():
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        shown = await browser.post(link, {"answer": "yes", "field-value": "hush"}, token="")
        assert shown.status == 403 and one.at.asked == []
        assert await one.asked.visits.ended(link.rpartition("/")[2]) is None


async def test_a_link_that_there_never_was_wants_a_sign_in_just_the_same():
    async with house() as one, one.browser() as browser:
        real, made_up = await one.link_for(sub="alice"), f"{BASE}/visit/{'A' * 43}"
        ways = [await browser.open(link) for link in (real, made_up)]
        assert [(way.status, way.location.partition("?")[0]) for way in ways] == [
            (303, f"{one.at.issuer}/authorize")
        ] * 2
        assert (await one.sign_in(browser, made_up, sub="mallory")).status == 404


@pytest.mark.verifies("R83")
async def test_several_windows_sign_in_at_once_and_the_latest_four_come_back():
    async with house() as one, one.browser() as browser:
        links = [await one.link_for(sub="alice") for _ in range(5)]
        outs = [sent(await browser.open(link)) for link in links]
        assert (await browser.open(one.back(outs[0]["state"]))).status == 403
        one.proves(outs[2]["nonce"], sub="alice")
        shown = await browser.open(one.back(outs[2]["state"]))
        assert (shown.status, str(shown.response.url)) == (200, links[2])


@pytest.mark.verifies("R83")
async def test_who_kept_the_cookies_of_a_sign_in_cannot_finish_it_a_second_time():
    async with house() as one, one.browser() as browser, one.browser() as again:
        out = sent(await browser.open(await one.link_for(sub="alice")))
        for name, value in dict(browser.client.cookies).items():
            again.client.cookies.set(name, value, domain="tools.example")
        one.proves(out["nonce"], sub="alice")
        back = one.back(out["state"])
        assert [(await window.open(back)).status for window in (browser, again)] == [200, 403]


async def test_strangers_at_the_door_leave_nothing_in_the_store():
    async with house() as one, one.browser() as browser:
        store = one.asked.store
        before = await store.rows(prefix="askback/", limit=1_000)
        for path in ("visit/" + "A" * 43, "visit/" + "A" * 60_000, "kept", "callback/x"):
            out = await browser.open(f"{BASE}/{path}")
            await browser.open(one.back("made up"))
            assert len(out.response.headers.get("set-cookie", "")) < MAX_COOKIE
        assert await store.rows(prefix="askback/", limit=1_000) == before


async def test_an_operator_reads_of_sign_in_where_sign_in_has_trouble(caplog: pytest.LogCaptureFixture):
    async with house() as one, one.browser() as browser:
        one.at.says(METADATA, {}, 500)
        assert (await browser.open(await one.link_for(sub="alice"))).status == 503
    assert "check the values in SignIn(...)" in caplog.text and "Provider" not in caplog.text


@pytest.mark.parametrize("broken", [METADATA, "/keys", "/token"])
async def test_while_the_authority_is_down_nobody_comes_in(broken: str):
    async with house() as one, one.browser() as browser:
        one.at.says(broken, {}, 500)
        link = await one.link_for(sub="alice")
        shown = await browser.open(link)
        if broken != METADATA:
            out = sent(shown)
            if broken == "/keys":
                one.proves(out["nonce"], sub="alice")
            shown = await browser.open(one.back(out["state"]))
        assert shown.status in {403, 503} and "shed" not in shown.html


async def test_a_sign_in_ends_after_an_hour_however_many_pages_are_opened_meanwhile():
    async with house() as one, one.browser() as browser:
        link = await one.link_for(sub="alice")
        await one.sign_in(browser, link, sub="alice")
        for seconds, status in ((1_800, 200), (1_799, 200), (2, 303)):
            one.clock.now += seconds
            assert (await browser.open(f"{BASE}/kept")).status == status
