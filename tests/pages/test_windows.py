"""A visit that is open in two windows at once."""

from collections.abc import Awaitable, Callable

import pytest

from askback.model.visit import VisitDeclined
from askback.vault.vault import Vault
from tests.support.visit_pages import LASTS, WHO, outside
from tests.support.visitor import visitor


def after_the_first_put(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], Awaitable[None]]) -> None:
    """Between what somebody saves and the end of their visit, which is a moment."""
    put, is_first = Vault.put, iter([True])

    async def put_and(self: Vault, *what: object, **more: object) -> str:
        version = await put(self, *what, **more)  # pyright: ignore[reportArgumentType] # passed on as it came
        if next(is_first, False):
            await happens()
        return version

    monkeypatch.setattr(Vault, "put", put_and)


async def test_a_value_that_came_after_a_no_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    grounds = outside()
    link = await grounds.secret()
    async with visitor(grounds.app) as ada, visitor(grounds.app) as other_window:
        ada.client.headers[WHO] = other_window.client.headers[WHO] = "ada"

        async def say_no() -> None:
            await other_window.decline(link)

        after_the_first_put(monkeypatch, say_no)
        assert (await ada.give(link, "too late")).heading == "You said no"
    assert await grounds.ending(link) == VisitDeclined() and await grounds.kept() == {}


async def test_what_was_given_for_another_call_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    grounds = outside()
    link, another = await grounds.secret(), await grounds.secret()
    async with visitor(grounds.app) as ada, visitor(grounds.app) as other_window:
        ada.client.headers[WHO] = other_window.client.headers[WHO] = "ada"

        async def say_no_and_yes() -> None:
            await other_window.decline(link)
            assert (await other_window.give(another, "meant")).heading == "Saved"

        after_the_first_put(monkeypatch, say_no_and_yes)
        assert (await ada.give(link, "too late")).heading == "You said no"
    assert await grounds.kept() == {"weather key": {"value": "meant"}}


@pytest.mark.parametrize("how", ["a no", "time over"])
async def test_what_came_too_late_leaves_what_was_kept_before_as_it_was(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    grounds = outside()
    until = grounds.clock() + 2 * LASTS
    await grounds.keep("weather key", until=until)
    link = await grounds.secret()
    async with visitor(grounds.app) as ada, visitor(grounds.app) as other_window:
        ada.client.headers[WHO] = other_window.client.headers[WHO] = "ada"

        async def end() -> None:
            if how == "a no":
                await other_window.decline(link)
            grounds.clock.now += LASTS

        after_the_first_put(monkeypatch, end)
        await ada.give(link, "too late")
    assert await grounds.kept() == {"weather key": {"value": "weather key"}}
    assert [note.until for note in await grounds.vault.list_items()] == [until]
