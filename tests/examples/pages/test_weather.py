"""The weather example: a key is asked for once, on a page, and again only when it was wrong."""

from pathlib import Path

import pytest

from examples.listening import listening
from examples.weather.server import make_server
from examples.weather.service import KEY, make_service
from tests.support.link_follower import CORNERS, Deed, going, running, text_of
from tests.support.visitor import visitor

pytestmark = pytest.mark.slow

DELFT = {"city": "Delft"}
SUNNY = "Delft tomorrow: clouds, and some sun"


def typing(key: str) -> Deed:
    async def type_key(link: str) -> None:
        async with visitor() as browser:
            await browser.open(link)
            assert (await browser.give(link, key=key)).status == 200

    return type_key


async def saying_no(link: str) -> None:
    async with visitor() as browser:
        await browser.open(link)
        assert (await browser.decline(link)).heading == "You said no"


@pytest.mark.parametrize(("revision", "transport"), CORNERS)
async def test_the_key_is_asked_for_once_and_is_there_the_next_time(
    revision: str, transport: str, home: Path
):
    async with (
        running("weather", transport) as target,
        going(target, typing(KEY), revision=revision) as driver,
    ):
        assert text_of(await driver.call_tool("forecast", DELFT)) == SUNNY
        assert text_of(await driver.call_tool("forecast", DELFT)) == SUNNY
        assert len(driver.answered) == 1
    kept = b"".join(file.read_bytes() for file in (home / "askback").iterdir())
    assert KEY.encode() not in kept


async def test_a_wrong_key_is_asked_for_again_and_the_page_says_why(revision: str):
    async def typing_again(link: str) -> None:
        async with visitor() as browser:
            assert "The weather service does not know it." in (await browser.open(link)).html
            await browser.give(link, key=KEY)

    deeds = typing("rain"), typing_again
    async with (
        listening(make_service()) as service,
        going(make_server(service), *deeds, revision=revision) as driver,
    ):
        assert text_of(await driver.call_tool("forecast", DELFT)) == SUNNY
        assert len(driver.answered) == 2


async def test_no_on_the_page_is_an_answer(revision: str):
    async with (
        listening(make_service()) as service,
        going(make_server(service), saying_no, revision=revision) as driver,
    ):
        assert text_of(await driver.call_tool("forecast", DELFT)) == "No forecast without a key."


async def test_behind_a_proxy_each_person_has_a_key_of_their_own():
    """The browser of each goes through the proxy as well, which is acted out by the header."""
    revision = "2026-07-28"

    def through_proxy(name: str) -> Deed:
        async def type_key(link: str) -> None:
            async with visitor() as stranger, visitor() as browser:
                stranger.client.headers["x-user"] = "mallory"
                assert (await stranger.open(link)).status == 403
                browser.client.headers["x-user"] = name
                assert name in (await browser.open(link)).html
                await browser.give(link, key=KEY)

        return type_key

    async with running("weather", "HTTP", "--header", "x-user") as url:
        for name in ("ada", "grace"):
            deed, headers = through_proxy(name), {"x-user": name}
            async with going(url, deed, revision=revision, headers=headers) as driver:
                assert text_of(await driver.call_tool("forecast", DELFT)) == SUNNY
                assert len(driver.answered) == 1
        async with going(url, revision=revision) as driver:
            assert "nobody tells who that is" in text_of(await driver.call_tool("forecast", DELFT))


@pytest.mark.parametrize("key", ["canäry", "canary\x00"])
async def test_a_key_that_fits_no_header_does_not_come_out_in_an_error(revision: str, key: str):
    async with (
        listening(make_service()) as service,
        going(make_server(service), typing(key), revision=revision) as driver,
    ):
        said = text_of(await driver.call_tool("forecast", DELFT))
        assert "could not be asked" in said and key not in said


async def test_a_service_that_is_down_is_said_to_be(revision: str):
    async with listening(make_service()) as service:
        pass
    async with going(make_server(service), typing(KEY), revision=revision) as driver:
        said = text_of(await driver.call_tool("forecast", DELFT))
    assert said.endswith("The weather service could not be asked.")
