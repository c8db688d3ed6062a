"""Workers in processes of their own, that are killed, stand still, and end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client

from scripts.services import nginx
from tests.server.forwarding.crew import PATIENCE, Posting, messages, text_of
from tests.server.forwarding.travel import Host
from tests.support.paths import ROOT
from tests.support.services import found

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@dataclass(frozen=True, slots=True)
class Worker:
    pid: int
    url: str

    def send(self, by: signal.Signals) -> None:
        os.kill(self.pid, by)

    async def end(self, by: signal.Signals = signal.SIGTERM) -> None:
        running = os.pidfd_open(self.pid)
        try:
            self.send(by)
            with anyio.fail_after(PATIENCE):
                await anyio.wait_readable(running)
        finally:
            os.close(running)


@pytest.fixture(scope="module")
def starter() -> Generator[subprocess.Popen[str]]:
    """Everything is imported once."""
    command = [sys.executable, "-m", "tests.server.forwarding.worker"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.kill()


@pytest.fixture
def crew(tmp_path: Path, starter: subprocess.Popen[str]) -> Generator[list[Worker]]:
    """Three that share a file, in the order in which a client will meet them."""
    with ExitStack() as running:
        file = str(tmp_path / "shared.db")
        yield [running.enter_context(started(starter, "MCPServer", file)) for _ in range(3)]


@contextmanager
def started(starter: subprocess.Popen[str], host: Host, file: str | None) -> Generator[Worker]:
    assert starter.stdin is not None and starter.stdout is not None
    print(json.dumps([host, file]), file=starter.stdin, flush=True)
    pid, port = starter.stdout.readline().split()
    worker = Worker(int(pid), f"http://127.0.0.1:{port}/mcp")
    try:
        yield worker
    finally:
        with suppress(ProcessLookupError):
            worker.send(signal.SIGKILL)


@pytest.fixture(params=["on its own", "with a shared store"])
def is_shared(request: pytest.FixtureRequest) -> bool:
    return request.param == "with a shared store"


@pytest.fixture(params=["MCPServer", "FastMCP"])
def single(
    request: pytest.FixtureRequest, is_shared: bool, tmp_path: Path, starter: subprocess.Popen[str]
) -> Generator[Worker]:
    """One server that has no other workers."""
    file = str(tmp_path / "shared.db") if is_shared else None
    with started(starter, request.param, file) as worker:
        yield worker


async def booked(client: Posting, call: str, answer: str) -> str:
    """A call at one worker whose question is answered at another; gives the text of its result."""
    with anyio.fail_after(PATIENCE):
        async with client.asking(call, "Rome") as response:
            said = messages(response)
            question = await anext(said)
            content = {"action": "accept", "content": {"value": 4}}
            assert (await client.tell(answer, id=question["id"], result=content)).status_code == 202
            return (await anext(said))["result"]["content"][0]["text"]


async def test_a_session_lives_in_one_process_and_is_served_by_all(
    crew: list[Worker], http: httpx2.AsyncClient
):
    first, second, third = crew
    client = Posting(http)
    await client.begin(first.url)
    for call, answer in ((second, third), (third, first), (first, second)):
        assert await booked(client, call.url, answer.url) == f"4 to Rome, booked in {first.pid}"


async def test_the_sessions_of_a_killed_worker_are_gone_and_their_clients_start_anew(
    crew: list[Worker], http: httpx2.AsyncClient
):
    first, second, third = crew
    client = Posting(http)
    await client.begin(first.url)
    async with client.asking(second.url, "Rome") as response:
        said = messages(response)
        assert (await anext(said))["method"] == "elicitation/create"
        await first.end(signal.SIGKILL)
        with anyio.fail_after(PATIENCE):
            assert [message async for message in said] == []
    for worker in (second, third):
        answer = await client.call(worker.url, "bell")
        assert answer.status_code == 404 and answer.json()["error"]["message"] == "Session not found"
    anew = Posting(http)
    await anew.begin(second.url)
    assert await booked(anew, third.url, third.url) == f"4 to Rome, booked in {second.pid}"


async def test_a_worker_that_stands_still_is_not_waited_for_and_does_nothing_later(
    crew: list[Worker], http: httpx2.AsyncClient
):
    first, second, third = crew
    client = Posting(http)
    await client.begin(first.url)
    assert text_of(await client.call(second.url, "bell")) == "rung"
    async with client.stream("GET", third.url) as response:
        said = messages(response)
        first.send(signal.SIGSTOP)
        with anyio.fail_after(PATIENCE):
            answer = await client.call(second.url, "bell")
            # The stream that was open is cut, as if its worker had died.
            assert [message async for message in said] == []
        assert answer.status_code == 503
        first.send(signal.SIGCONT)
    # What was given up came in first, and was not begun.
    assert [text_of(await client.call(url, "rung")) for url in (second.url, first.url)] == ["1", "1"]


async def test_an_answer_for_a_worker_that_stands_still_is_accepted_and_reaches_it(
    crew: list[Worker], http: httpx2.AsyncClient
):
    first, second, _third = crew
    client = Posting(http)
    await client.begin(first.url)
    async with client.asking(first.url, "Rome") as response:
        said = messages(response)
        question = await anext(said)
        first.send(signal.SIGSTOP)
        content = {"action": "accept", "content": {"value": 4}}
        with anyio.fail_after(PATIENCE):
            assert (await client.tell(second.url, id=question["id"], result=content)).status_code == 202
        first.send(signal.SIGCONT)
        with anyio.fail_after(PATIENCE):
            assert (await anext(said))["result"]["content"][0]["text"].startswith("4 to Rome")


@pytest.mark.parametrize("through", [0, 1], ids=["at the worker itself", "through another"])
async def test_a_worker_that_is_told_to_end_ends_its_questions_with_a_clear_word(
    through: int, crew: list[Worker], http: httpx2.AsyncClient
):
    first, second, _third = crew
    client, heard = Posting(http), list[dict[str, Any]]()
    await client.begin(first.url)
    async with client.asking(crew[through].url, "Rome") as response:
        said = messages(response)
        assert (await anext(said))["method"] == "elicitation/create"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.end)
            with anyio.fail_after(PATIENCE):
                heard = [message async for message in said]
    assert heard[0]["method"] == "notifications/cancelled"
    assert heard[-1]["result"]["isError"]
    assert "The worker that asked is being stopped" in heard[-1]["result"]["content"][0]["text"]
    assert (await client.call(second.url, "bell")).status_code == 404


@pytest.mark.parametrize("through", [0, 1], ids=["at the worker itself", "through another"])
async def test_a_worker_that_is_told_to_end_finishes_the_calls_that_run(
    through: int, crew: list[Worker], http: httpx2.AsyncClient
):
    first, second, _third = crew
    client, heard = Posting(http), list[dict[str, Any]]()
    await client.begin(first.url)
    params: dict[str, Any] = {"name": "pack", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    async with (
        client.stream("POST", crew[through].url, json=call) as response,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(first.end)
        with anyio.fail_after(PATIENCE):
            heard = [message async for message in messages(response)]
    assert heard[-1]["result"]["content"][0]["text"] == "packed"
    assert (await client.call(second.url, "bell")).status_code == 404


async def test_a_server_that_is_told_to_end_ends_its_questions_with_a_clear_word(single: Worker):
    asked, results = anyio.Event(), list[types.CallToolResult]()

    async def think(context: Any, params: Any) -> types.ElicitResult:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def end() -> None:
        await asked.wait()
        await single.end()

    with anyio.fail_after(2 * PATIENCE):
        async with Client(single.url, mode="legacy", elicitation_callback=think) as client:
            await client.list_tools()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(end)
                results.append(await client.call_tool("book", {"city": "Rome"}))
    assert [result.is_error for result in results] == [True]
    assert "The worker that asked is being stopped" in str(results[0].content)


async def test_a_server_that_is_told_to_end_finishes_the_calls_that_run(
    single: Worker, http: httpx2.AsyncClient
):
    client, heard = Posting(http), list[dict[str, Any]]()
    await client.begin(single.url)
    params: dict[str, Any] = {"name": "pack", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    async with client.stream("POST", single.url, json=call) as response, anyio.create_task_group() as tasks:
        tasks.start_soon(single.end)
        with anyio.fail_after(PATIENCE):
            heard = [message async for message in messages(response)]
    assert heard[-1]["result"]["content"][0]["text"] == "packed"


async def test_a_worker_that_is_told_to_end_ends_the_streams_that_go_through_it(
    crew: list[Worker], http: httpx2.AsyncClient
):
    first, second, third = crew
    client = Posting(http)
    await client.begin(first.url)
    async with client.stream("GET", second.url) as response:
        assert response.status_code == 200
        await second.end()
        with anyio.fail_after(PATIENCE):
            assert [message async for message in messages(response)] == []
    assert text_of(await client.call(third.url, "bell")) == "rung"


@pytest.mark.services
async def test_a_client_behind_nginx_is_served_by_workers_in_turn(crew: list[Worker]):
    async def two(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"value": 2})

    with found(), nginx([worker.url.removesuffix("/mcp") for worker in crew]) as proxy:
        async with Client(f"{proxy.url}/mcp", mode="legacy", elicitation_callback=two) as client:
            with anyio.fail_after(PATIENCE):
                texts = [str((await client.call_tool("book", {"city": "Rome"})).content) for _ in range(5)]
    assert sum("2 to Rome" in text for text in texts) == 5
    assert sum(any(str(worker.pid) in text for text in texts) for worker in crew) == 1
