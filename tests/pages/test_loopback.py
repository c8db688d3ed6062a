"""The pages of a server on stdio: on this machine, for whoever opens a link first, as long as the server runs."""

import logging
import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client, ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from askback.errors import OperatorError
from askback.pages import Pages
from askback.pages.authenticators import LoopbackAuthenticator
from askback.pages.loopback import LaunchPath
from tests.pages.raw import is_listening, told
from tests.support.defence import with_and_without
from tests.support.visit_pages import on_this_machine
from tests.support.visitor import PATIENCE, SAME_ORIGIN, visitor

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("stdio_server.py")


def port_of(base: str) -> int:
    return urlsplit(base).port or 0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.verifies("R92", "R20")
async def test_a_second_browser_is_turned_away_and_the_first_can_go_on() -> None:
    async with on_this_machine() as grounds, visitor() as first, visitor() as second:
        link = await grounds.secret(message="For whoever sits here.")
        assert (await first.open(link)).heading == "weather asks for your weather key"
        turned = await second.open(link)
        assert (turned.status, turned.heading) == (403, "This page is not for you")
        assert "For whoever sits here." not in turned.html
        posted = await second.post(link, {"answer": "yes", "field-value": "theirs"}, token="")
        assert posted.status == 403 and await grounds.kept() == {}
        assert (await first.give(link, "mine")).heading == "Saved"
        assert await grounds.kept() == {"weather key": {"value": "mine"}}


async def test_the_pages_log_no_request_and_leave_the_hosts_own_log_of_them_alone(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_host, mine = logging.getLogger("uvicorn.access"), logging.NullHandler()
    monkeypatch.setattr(of_the_host, "propagate", True)
    monkeypatch.setattr(of_the_host, "handlers", [mine])
    caplog.set_level(logging.INFO, logger=of_the_host.name)
    async with on_this_machine() as grounds, visitor() as browser:
        assert (await browser.open(await grounds.secret())).status == 200
    assert (of_the_host.handlers, of_the_host.propagate) == ([mine], True)
    assert not [record for record in caplog.records if record.name == of_the_host.name]


@pytest.mark.verifies("R92", "T25")
@with_and_without
async def test_a_link_opens_for_one_browser(is_defended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def always(*_: object) -> bool:
        return True

    if not is_defended:
        monkeypatch.setattr(LoopbackAuthenticator, "_spend", always)
    async with on_this_machine() as grounds, visitor() as first, visitor() as second:
        link = await grounds.secret()
        await first.open(link)
        assert ((await second.open(link)).status == 403) is is_defended


@pytest.mark.verifies("R92")
async def test_of_many_browsers_at_once_one_gets_in() -> None:
    async with on_this_machine() as grounds:
        link = await grounds.secret()
        statuses: list[int] = []

        async def come() -> None:
            async with visitor() as browser:
                statuses.append((await browser.open(link)).status)

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(come)
        assert sorted(statuses) == [200, *[403] * 9]


@pytest.mark.verifies("R92")
async def test_a_browser_that_was_let_in_opens_later_links_and_nobody_else_opens_those() -> None:
    async with on_this_machine() as grounds, visitor() as first, visitor() as second:
        await first.open(await grounds.secret())
        later = await grounds.secret(name="another key")
        assert (await first.open(later)).status == 200
        assert (await second.open(later)).status == 403


async def test_the_words_of_a_page_on_this_machine_say_so() -> None:
    async with on_this_machine() as grounds, visitor() as browser:
        shown = await browser.open(await grounds.secret())
        assert "on this computer" in shown.html and "the user of this computer" in shown.html


OTHER_NAMES = [
    "evil.example",
    "evil.example:{port}",
    "localhost:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:{port}.",
    "127.0.0.1.evil.example:{port}",
    "0.0.0.0:{port}",
    "[::1]:{port}",
    "2130706433:{port}",
]


def _always(*_: object) -> bool:
    return True


@pytest.mark.verifies("R92")
@pytest.mark.parametrize("name", OTHER_NAMES)
@with_and_without
async def test_a_name_elsewhere_that_leads_to_this_machine_gets_nothing(
    name: str, is_defended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_defended:
        monkeypatch.setattr(LaunchPath, "_has_own_name", _always)
    async with on_this_machine() as grounds, visitor() as rebound:
        link, port = await grounds.secret(), port_of(grounds.base)
        host = {"host": name.replace("{port}", str(port))}
        answer = await rebound.client.get(link, headers=host)
        assert (answer.status_code == 403) is is_defended
        assert ("set-cookie" not in answer.headers) is is_defended
        if is_defended:
            assert "weather" not in answer.text
            posted = await rebound.client.post(link, data={"answer": "no"}, headers=SAME_ORIGIN | host)
            assert posted.status_code == 403 and await grounds.ending(link) is None


@pytest.mark.verifies("R92")
@pytest.mark.parametrize(
    "lines",
    ["", "Host: {own}\r\nHost: evil.example\r\n", "Host: evil.example\r\nHost: {own}\r\n", "Host:\r\n"],
    ids=["none", "two, ours first", "two, ours last", "empty"],
)
@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_request_with_no_name_or_two_gets_nothing(lines: str, version: str) -> None:
    async with on_this_machine() as grounds:
        link = urlsplit(await grounds.secret())
        request = f"GET {link.path} HTTP/{version}\r\nAccept: text/html\r\n{lines.replace('{own}', link.netloc)}\r\n"
        said = await told(port_of(grounds.base), request.encode())
        assert said.split()[1] in (b"400", b"403") and b"cookie" not in said.lower()


@pytest.mark.verifies("R92", "R82")
async def test_a_cookie_of_an_earlier_launch_is_worthless() -> None:
    port = free_port()
    async with visitor() as browser:
        async with on_this_machine(Pages(port=port)) as before:
            await browser.open(await before.secret())
            assert browser.client.cookies
        async with on_this_machine(Pages(port=port)) as after, visitor() as other:
            assert port_of(after.base) == port_of(before.base) and after.base != before.base
            link = await after.secret()
            await other.open(link)
            assert (await browser.open(link)).status == 403
            assert (await browser.open(f"{after.base}/kept")).status == 403


@pytest.mark.verifies("R92")
async def test_it_listens_on_the_one_address_of_its_links() -> None:
    """One that listens everywhere would answer at any other address of this machine too."""
    async with on_this_machine() as grounds:
        port = port_of(grounds.base)
        assert await is_listening(port) and not await is_listening(port, "127.0.0.2")


async def test_links_that_are_needed_at_once_start_one_listener() -> None:
    bases: set[str] = set()
    async with on_this_machine() as grounds:
        house = grounds.asked.page_host
        await house.loopback.close()

        async def need() -> None:
            bases.add(await house.base_address(is_local=True))

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(need)
        assert len(bases) == 1


async def test_a_port_that_is_taken_is_said_clearly() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(
            OperatorError, match=rf"cannot listen on port {port} .* Choose another port, or 0"
        ):
            async with on_this_machine(Pages(port=port)):
                pass


@pytest.mark.verifies("R92")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_on_stdio_the_pages_start_with_the_first_link_and_end_with_the_server(
    mode: str, tmp_path: Path
) -> None:
    port = free_port()
    program = StdioServerParameters(
        command=sys.executable,
        args=[str(PROGRAM), str(port)],
        env=os.environ | {"ASKBACK_HOME": str(tmp_path)},
    )
    opened: list[str] = []

    async def go(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        opened.append(params.url)
        async with visitor() as browser:
            assert (await browser.give(params.url, "k-1234")).heading == "Saved"
        return ElicitResult(action="accept")

    with anyio.fail_after(3 * PATIENCE):
        async with Client(program, elicitation_callback=go, mode=mode) as client:
            await client.call_tool("ping", {})
            assert not await is_listening(port)
            result = await client.call_tool("forecast", {})
            assert "a key of 6 signs" in str(result.content)
            assert await is_listening(port)
        assert [urlsplit(url).netloc for url in opened] == [f"127.0.0.1:{port}"]
        assert not await is_listening(port)
