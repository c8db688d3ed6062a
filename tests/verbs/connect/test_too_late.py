"""Sign-ins that grant too little, come too late, or come several times: what was there before is as it was."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from askback.model.visit import VisitAborted, VisitDeclined, VisitSettled
from askback.vault.keys import VARIABLE, new_key
from tests.oauth.test_callbacks import back, states_of
from tests.support.authorization_server import Authority, authority
from tests.support.site import Site, site

LONGER_THAN_A_VISIT = 4_000.0
WINDOWS = 5


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, new_key())


@asynccontextmanager
async def connecting() -> AsyncGenerator[tuple[Authority, Site]]:
    async with authority(revocation_endpoint="{issuer}/revoke") as calendar:
        calendar.says("/revoke", {})
        yield calendar, site(calendar.provider("calendar"))


def while_redeeming(calendar: Authority, happens: Callable[[], Awaitable[object]]) -> None:
    """What takes place before the provider answers."""

    async def answer(_: Request) -> Response:
        await happens()
        return JSONResponse({"access_token": "late", "token_type": "Bearer", "scope": "read"})

    calendar.answers["/token"] = answer


async def connect(calendar: Authority, pages: Site, access_token: str, *scopes: str) -> None:
    """As it was before."""
    calendar.gives(access_token=access_token, scope=" ".join(scopes))
    link = await pages.ask("ann", "calendar", scopes)
    async with pages.visitor("ann") as ann:
        await ann.open(back(await states_of(ann, link)))
    assert await pages.token_of("ann", "calendar") == access_token


def given_back(calendar: Authority) -> list[str]:
    return [str(asked.form["token"]) for asked in calendar.asked if asked.path == "/revoke"]


async def test_a_sign_in_that_grants_too_little_takes_nothing_away():
    async with connecting() as (calendar, pages):
        await connect(calendar, pages, "for-both", "read", "write")
        calendar.gives(access_token="for-one", scope="read")
        link = await pages.ask("ann", "calendar", ("read", "write", "share"))
        async with pages.visitor("ann") as ann:
            await ann.open(back(await states_of(ann, link)))
        assert await pages.ending(link) == VisitAborted("calendar did not grant: write, share.")
    assert await pages.token_of("ann", "calendar") == "for-both"
    assert given_back(calendar) == []


async def test_a_sign_in_that_grants_too_little_leaves_nothing():
    async with connecting() as (calendar, pages):
        calendar.gives(scope="read")
        link = await pages.ask("ann", "calendar", ("read", "write"))
        async with pages.visitor("ann") as ann:
            await ann.open(back(await states_of(ann, link)))
    assert await pages.kept("ann") == 0


@pytest.mark.parametrize("had", [True, False], ids=["connected before", "not connected"])
@pytest.mark.parametrize("how", ["a no", "time over"])
async def test_a_sign_in_that_is_over_before_the_provider_answers_leaves_what_was_there(how: str, had: bool):
    async with connecting() as (calendar, pages):
        if had:
            await connect(calendar, pages, "former", "read")
        link = await pages.ask("ann", "calendar")
        async with pages.visitor("ann") as ann, pages.visitor("ann") as other_window:

            async def end() -> None:
                if how == "a no":
                    await other_window.decline(link)
                else:
                    pages.clock.now += LONGER_THAN_A_VISIT

            while_redeeming(calendar, end)
            shown = await ann.open(back(await states_of(ann, link)))
        assert shown.status == (200 if how == "a no" else 404)
        assert await pages.ending(link) == (VisitDeclined() if how == "a no" else None)
    assert await pages.token_of("ann", "calendar") == ("former" if had else None)
    assert given_back(calendar) == ([] if had else ["late"])


@pytest.mark.verifies("R83")
async def test_of_several_windows_that_come_back_at_once_one_is_redeemed():
    async with connecting() as (calendar, pages):
        link = await pages.ask("ann", "calendar")

        async def all_are_back() -> None:
            while await pages.asked.store.rows(prefix="askback/flows"):
                await anyio.lowlevel.checkpoint()

        while_redeeming(calendar, all_are_back)
        seen: list[str] = []
        async with pages.visitor("ann") as ann:

            async def come_back(state: str) -> None:
                seen.append((await ann.open(back(state, f"code-of-{state}"))).heading)

            states = [await states_of(ann, link) for _ in range(WINDOWS)]
            with anyio.fail_after(10):
                async with anyio.create_task_group() as tasks:
                    for state in states:
                        tasks.start_soon(come_back, state)
    assert (len(calendar.codes), await pages.ending(link)) == (1, VisitSettled())
    assert len(seen) == WINDOWS and len(set(seen)) == 1
