"""A hostile provider beside an honest one (T22): it wants a code that the honest one gave, and never gets it.

What the person at the browser sees is an honest sign-in; what the hostile one bends is where its answer goes.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from askback.oauth.connector import Connector
from askback.pages.connect import ConnectPage
from tests.oauth.switches import SWITCH, Switch, believe_any_issuer
from tests.oauth.test_callbacks import back
from tests.support.authorization_server import Authority, authority
from tests.support.site import BASE, Site, sent, site
from tests.support.visitor import Shown, Visitor

pytestmark = pytest.mark.verifies("T22", "R85")

VICTIMS_CODE = "a-code-that-the-honest-one-gave"
SHARED = f"{BASE}/callback/any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """ann, who wants to be connected with the hostile one; and the honest one, where she has an account too."""

    pages: Site
    hostile: Authority
    honest: Authority
    ann: Visitor
    link: str

    async def begin(self) -> dict[str, str]:
        """She agrees, and goes to where the hostile provider's authorization endpoint is."""
        return sent(await self.ann.agree(self.link))

    async def answer_of_the_honest_one(self, out: Mapping[str, str], callback: str) -> Shown:
        """It signs people in for callbacks that it knows to the letter, and says who it is."""
        known = {f"{BASE}/callback/honest", SHARED}
        assert callback in known
        return await self.ann.open(back(out["state"], VICTIMS_CODE, callback, iss=self.honest.issuer))


@asynccontextmanager
async def stage(**metadata: Any) -> AsyncGenerator[Stage]:
    names = {"authorization_response_iss_parameter_supported": True}
    async with authority(**names) as honest, authority(**{**names, **metadata}) as hostile:
        pages = site(hostile.provider("hostile"), honest.provider("honest"))
        link = await pages.ask("ann", "hostile")
        async with pages.visitor("ann") as ann:
            yield Stage(pages=pages, hostile=hostile, honest=honest, ann=ann, link=link)


async def lead_on_to_the_honest_one(one: Stage) -> bool:
    """Its authorization endpoint sends her on to the honest one's, with our id there and the state that it was given.
    Whether the hostile one gets the code."""
    out = await one.begin()
    callback = out["redirect_uri"] if out["redirect_uri"] == SHARED else f"{BASE}/callback/honest"
    shown = await one.answer_of_the_honest_one(out, callback)
    assert VICTIMS_CODE not in one.honest.codes
    if not one.hostile.codes:
        assert shown.status == 403 and await one.pages.kept("ann") == 0
    return VICTIMS_CODE in one.hostile.codes


async def take_the_code_to_its_own_callback(one: Stage) -> bool:
    """It got hold of an answer of the honest one, and has her browser bring the code to the hostile one's callback."""
    out = await one.begin()
    shown = await one.ann.open(back(out["state"], VICTIMS_CODE, out["redirect_uri"], iss=one.honest.issuer))
    if not one.hostile.codes:
        assert shown.status == 403 and await one.pages.kept("ann") == 0
    return VICTIMS_CODE in one.hostile.codes


async def put_its_own_code_on_the_honest_callback(one: Stage) -> bool:
    """It has her come back to the honest one's callback with its own code. Whether that one is asked with it."""
    out = await one.begin()
    callback = f"{BASE}/callback/honest"
    shown = await one.ann.open(back(out["state"], "a-hostile-code", callback, iss=one.hostile.issuer))
    assert shown.status == 403
    return "a-hostile-code" in one.honest.codes


def without_callbacks_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """One callback for all of them; whom an answer is from is taken from its state."""
    come_back: Any = vars(ConnectPage)["_return"]

    async def return_to_any(self: Any, request: Any) -> Any:
        visitor = await self._gate.visitor(request)
        facts = await self._states.find(request.query_params.get("state", ""), visitor.session.browser)
        if facts is not None:
            request.scope["path_params"] = {"provider": facts["provider"]}
        return await come_back(self, request)

    def shared(self: ConnectPage, connector: Connector) -> str:
        return SHARED

    monkeypatch.setattr(ConnectPage, "_return", return_to_any)
    monkeypatch.setattr(ConnectPage, "_redirect_uri", shared)


SWITCHES: dict[str, tuple[list[Switch], bool]] = {
    "as it is": ([], False),
    "without the issuer": ([believe_any_issuer], False),
    "without callbacks of their own": ([without_callbacks_of_their_own], False),
    "without either": ([believe_any_issuer, without_callbacks_of_their_own], True),
}


@pytest.mark.parametrize(("switches", "succeeds"), SWITCHES.values(), ids=SWITCHES.keys())
async def test_a_browser_that_is_led_on_to_an_honest_provider_brings_no_code_to_the_hostile_one(
    monkeypatch: pytest.MonkeyPatch, switches: list[Switch], succeeds: bool
):
    for take_out in switches:
        take_out(monkeypatch)
    async with stage() as one:
        assert await lead_on_to_the_honest_one(one) is succeeds


@SWITCH
async def test_a_code_of_an_honest_provider_is_not_taken_at_the_hostile_callback(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
):
    if not is_on:
        believe_any_issuer(monkeypatch)
    async with stage() as one:
        assert await take_the_code_to_its_own_callback(one) is not is_on


async def test_a_hostile_code_is_not_taken_to_the_honest_provider():
    async with stage() as one:
        assert not await put_its_own_code_on_the_honest_callback(one)
        assert one.hostile.codes == [] and await one.pages.is_open(one.link)


async def test_a_hostile_provider_that_names_the_honest_ones_endpoint_as_its_own_gets_no_code():
    async with authority() as honest, stage(authorization_endpoint=f"{honest.issuer}/authorize") as one:
        out = await one.begin()
        # The honest one would have to know this very callback, which is the hostile one's.
        assert out["redirect_uri"] == f"{BASE}/callback/hostile"
        shown = await one.ann.open(back(out["state"], VICTIMS_CODE, out["redirect_uri"], iss=honest.issuer))
        assert (shown.status, one.hostile.codes) == (403, [])


async def test_a_hostile_issuer_that_says_it_is_the_honest_one_is_not_believed():
    async with authority() as honest, stage(issuer=honest.issuer) as one:
        shown = await one.ann.open(one.link)
        assert shown.status == 503
        assert one.hostile.codes == honest.codes == []
