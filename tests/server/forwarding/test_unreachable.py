"""Workers and stores that do not answer: nobody waits for ever, and nothing is done in silence."""

import socket
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from anyio.abc import SocketAttribute, SocketStream

from askback.errors import AuthorError, OperatorError, StoreUnavailable
from askback.server.forwarding import forwarder
from askback.server.forwarding.addresses import VARIABLE
from askback.server.forwarding.directory import SessionDirectory, WorkerLocation, this_machine
from askback.stores import SQLiteStore
from tests.server.forwarding.crew import PATIENCE, Posting, crew, serving
from tests.server.forwarding.travel import KEYS, app_of, travel

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ID = "1" * 32


class Failing(SQLiteStore):
    """A store that can be cut off."""

    is_off = False

    def _require(self) -> None:
        if self.is_off:
            raise StoreUnavailable(store="shared.db", problem="it was cut off", advice="Wait.")

    async def get(self, owner: str, name: str) -> bytes | None:
        self._require()
        return await super().get(owner, name)

    async def put(self, owner: str, name: str, value: bytes, *, until: float | None = None) -> None:
        self._require()
        await super().put(owner, name, value, until=until)


@pytest.fixture
def deaf() -> Generator[str]:
    """Somebody who lets everybody in and never says a word, as a process that stands still."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def is_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(forwarder.TIMEOUTS, "read", 0.3)


async def enter(folder: Path, owner: WorkerLocation, *, is_alive: bool) -> SessionDirectory:
    register = SessionDirectory(SQLiteStore(folder / "shared.db"), clock=time.time)
    await register.enter(ID, owner)
    if is_alive:
        await register.heartbeat(owner.worker)
    return register


@pytest.mark.usefixtures("is_impatient")
async def test_a_worker_that_says_nothing_and_lives_gets_another_try(
    tmp_path: Path, http: httpx2.AsyncClient, deaf: str
):
    owner = WorkerLocation(deaf, "w", this_machine())
    register = await enter(tmp_path, owner, is_alive=True)
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        answer = await Posting(http, **{"mcp-session-id": ID}).call(url, "bell")
    assert answer.status_code == 503 and answer.headers["retry-after"] == "2"
    assert "Nothing was begun" in answer.json()["error"]["message"]
    assert await register.find(ID) == owner


async def test_what_broke_without_a_word_may_have_been_begun(tmp_path: Path, http: httpx2.AsyncClient):
    """Nobody is told to make the call again as if nothing had happened."""

    async def hang_up(stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream):
                await stream.receive()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port: int = listener.extra(SocketAttribute.local_port)
        owner = WorkerLocation(f"http://127.0.0.1:{port}", "w", this_machine())
        await enter(tmp_path, owner, is_alive=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, hang_up)
            async with crew("MCPServer", tmp_path, count=1) as (url,):
                answer = await Posting(http, **{"mcp-session-id": ID}).call(url, "bell")
                assert answer.status_code == 503
                assert "may have been begun" in answer.json()["error"]["message"]
            tasks.cancel_scope.cancel()


@pytest.mark.usefixtures("is_impatient")
async def test_a_worker_that_says_nothing_and_did_not_for_long_is_dead(
    tmp_path: Path, http: httpx2.AsyncClient, deaf: str
):
    register = await enter(tmp_path, WorkerLocation(deaf, "w", this_machine()), is_alive=False)
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        answer = await Posting(http, **{"mcp-session-id": ID}).call(url, "bell")
    assert answer.status_code == 404
    assert await register.find(ID) is None


async def test_a_worker_that_is_gone_takes_its_sessions_along(tmp_path: Path, http: httpx2.AsyncClient):
    async with crew("MCPServer", tmp_path, count=1) as (second,):
        client = Posting(http)
        async with crew("MCPServer", tmp_path, count=1) as (first,):
            await client.begin(first)
            assert (await client.call(second, "bell")).status_code == 200
        gone = await client.call(second, "bell")
        assert gone.status_code == 404 and gone.json()["error"]["message"] == "Session not found"
        register = SessionDirectory(SQLiteStore(tmp_path / "shared.db"), clock=time.time)
        assert await register.find(client.headers["mcp-session-id"]) is None
        anew = Posting(http)
        assert (await anew.begin(second)).status_code == 200


async def test_another_worker_at_the_same_address_has_other_sessions(
    tmp_path: Path, http: httpx2.AsyncClient
):
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    async with crew("MCPServer", tmp_path, count=1) as (second,):
        client = Posting(http)
        async with crew("MCPServer", tmp_path, count=1, address=address) as (first,):
            await client.begin(first)
            assert (await client.call(second, "bell")).status_code == 200
        async with crew("MCPServer", tmp_path, count=1, address=address) as (restarted,):
            await Posting(http).begin(restarted)
            assert (await client.call(second, "bell")).status_code == 404


async def test_two_servers_of_a_process_share_the_address_they_were_given(
    tmp_path: Path, http: httpx2.AsyncClient
):
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    async with (
        crew("MCPServer", tmp_path, count=2, address=address) as (one, other),
        crew("MCPServer", tmp_path, count=1) as (third,),
    ):
        for url in (one, other):
            client = Posting(http)
            await client.begin(url)
            assert (await client.call(third, "bell")).status_code == 200


async def test_a_session_of_a_machine_that_cannot_be_reached_is_left_in_peace(
    tmp_path: Path, http: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
):
    register = await enter(tmp_path, WorkerLocation("http://127.0.0.1:9", "w", "elsewhere"), is_alive=True)
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        answer = await Posting(http, **{"mcp-session-id": ID}).call(url, "bell")
    assert answer.status_code == 404 and "ASKBACK_ADDRESS" in caplog.text
    assert await register.find(ID) is not None


async def test_without_the_store_nobody_is_told_that_a_session_is_gone(
    tmp_path: Path, http: httpx2.AsyncClient
):
    store = Failing(tmp_path / "shared.db")
    async with (
        crew("MCPServer", tmp_path, count=1) as (first,),
        serving(app_of("MCPServer", travel("MCPServer", store=store))) as second,
    ):
        client = Posting(http)
        await client.begin(first)
        store.is_off = True
        answer = await client.call(second, "bell")
        assert answer.status_code == 503 and "try again later" in answer.json()["error"]["message"]
        store.is_off = False
        assert (await client.call(second, "bell")).status_code == 200


async def test_the_way_to_a_session_is_looked_up_once(tmp_path: Path, http: httpx2.AsyncClient):
    """So its requests and answers go through while the store stands still."""
    store = Failing(tmp_path / "shared.db")
    async with (
        crew("MCPServer", tmp_path, count=1) as (first,),
        serving(app_of("MCPServer", travel("MCPServer", store=store))) as second,
    ):
        client = Posting(http)
        await client.begin(first)
        assert (await client.call(second, "bell")).status_code == 200
        store.is_off = True
        assert (await client.call(second, "bell")).status_code == 200


@pytest.mark.parametrize("is_json", [False, True], ids=["events", "json"])
async def test_without_the_store_no_session_is_opened(
    is_json: bool, tmp_path: Path, http: httpx2.AsyncClient
):
    store = Failing(tmp_path / "shared.db")
    server = travel("MCPServer", store=store)
    async with serving(app_of("MCPServer", server, json_response=is_json)) as url:
        store.is_off = True
        answer = await Posting(http).begin(url)
        assert answer.status_code == 503 and "mcp-session-id" not in answer.headers
        with anyio.fail_after(PATIENCE):
            while vars(server.session_manager)["_server_instances"]:
                await anyio.lowlevel.checkpoint()
        store.is_off = False
        assert (await Posting(http).begin(url)).status_code == 200


async def test_a_client_that_goes_is_not_waited_for_by_the_other_worker(
    tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew("MCPServer", tmp_path) as (first, second, third):
        client = Posting(http)
        await client.begin(first)
        async with client.stream("GET", second) as response:
            assert response.status_code == 200
        # The session has one such stream; another is opened as soon as the first is known to be gone.
        with anyio.fail_after(PATIENCE):
            while True:
                async with client.stream("GET", third) as response:
                    if response.status_code == 200:
                        break


@pytest.mark.parametrize(
    "address", ["10.1.2.3", "https://10.1.2.3", "http://", "http://a:b", "http://a/b", 7411]
)
def test_an_address_that_is_none_is_refused_at_once(address: Any):
    with pytest.raises(AuthorError, match="where other workers reach this one"):
        travel("MCPServer", address=address, store="sqlite:///unused.db")


def test_an_address_in_the_environment_is_looked_at_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, "10.1.2.3")
    with pytest.raises(OperatorError, match="ASKBACK_ADDRESS"):
        travel("MCPServer", store="sqlite:///unused.db")


@pytest.mark.parametrize("options", [{"keys": None, "store": "sqlite:///unused.db"}, {"keys": KEYS}])
def test_an_address_for_nobody_is_refused(options: dict[str, Any]):
    with pytest.raises(OperatorError, match="nothing in common"):
        travel("MCPServer", address="http://10.1.2.3:7411", **options)
