"""What workers say to each other is theirs alone: nobody reads it, forges it, or says it again."""

import json
import socket
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest

from askback.server.forwarding.directory import SESSIONS, SessionDirectory, WorkerLocation
from askback.server.forwarding.envelope import Envelope, pack_scope
from askback.server.forwarding.listener import WorkerListener
from askback.server.forwarding.seal import (
    ForwardingKeys,
    Frame,
    FrameKind,
    FrameReader,
    FrameWriter,
    NotSealed,
    SealedRequest,
)
from askback.server.forwarding.sessions import LocalSession, LocalSessions
from askback.stores import SQLiteStore
from tests.server.forwarding.crew import Posting, crew
from tests.server.forwarding.travel import KEYS

pytestmark = pytest.mark.anyio

EMPTY = Envelope(session="", scope={}, user=None, body=b"")
OTHERS = ["of somebody else, and as long as it must be"]


async def owner_of(client: Posting, folder: Path) -> WorkerLocation:
    """Where the store says that the client's session lives."""
    store = SQLiteStore(folder / "shared.db")
    owner = await SessionDirectory(store, clock=time.time).find(client.headers["mcp-session-id"])
    await store.close()
    assert owner is not None
    return owner


def bell(client: Posting, owner: WorkerLocation, **fields: Any) -> Envelope:
    """A call of a tool, as another worker would bring it now; on one machine all clocks are one."""
    params: dict[str, Any] = {"name": "bell", "arguments": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}).encode()
    given = {**client.headers, "content-type": "application/json", "host": "127.0.0.1:1"}
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"method": "POST", "path": "/mcp", "query_string": b"", "scheme": "http", "headers": headers}
    envelope = Envelope(
        worker=owner.worker,
        until=time.monotonic() + 4,
        session=client.headers["mcp-session-id"],
        scope=pack_scope({**scope, "root_path": "", "http_version": "1.1"}),
        user=None,
        body=body,
    )
    return envelope._replace(**fields)


def frames(asked: SealedRequest, response: httpx2.Response) -> list[Frame]:
    return list(FrameReader(asked).read(response.content))


def kinds(asked: SealedRequest, response: httpx2.Response) -> list[FrameKind]:
    return [frame.kind for frame in frames(asked, response) if frame.kind is not FrameKind.HEARTBEAT]


async def begun(http: httpx2.AsyncClient, url: str, folder: Path) -> tuple[Posting, WorkerLocation]:
    client = Posting(http)
    await client.begin(url)
    return client, await owner_of(client, folder)


async def test_a_worker_answers_what_is_sealed_with_its_keys(tmp_path: Path, http: httpx2.AsyncClient):
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        client, owner = await begun(http, url, tmp_path)
        asked = ForwardingKeys(KEYS).seal(bell(client, owner).pack())
        response = await http.post(owner.address, content=asked.sealed)
        assert "rung" not in response.text
        said = frames(asked, response)
    assert [said[0].kind, said[1].kind, said[-1].kind] == [FrameKind.HERE, FrameKind.START, FrameKind.END]
    assert "rung" in b"".join(frame.payload for frame in said).decode()


async def test_the_second_time_it_is_said_nothing_happens(tmp_path: Path, http: httpx2.AsyncClient):
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        client, owner = await begun(http, url, tmp_path)
        asked = ForwardingKeys(KEYS).seal(bell(client, owner).pack())
        first, again = [await http.post(owner.address, content=asked.sealed) for _ in range(2)]
        assert FrameKind.START in kinds(asked, first)
        assert (again.status_code, again.content) == (404, b"")


async def test_without_that_defence_the_second_time_would_be_heard(
    tmp_path: Path, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    def forget(*_about: Any) -> None:
        """Nothing is noted."""

    monkeypatch.setattr(WorkerListener, "_note_seen", forget)
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        client, owner = await begun(http, url, tmp_path)
        asked = ForwardingKeys(KEYS).seal(bell(client, owner).pack())
        first, again = [await http.post(owner.address, content=asked.sealed) for _ in range(2)]
        assert FrameKind.START in kinds(asked, first) and FrameKind.START in kinds(asked, again)


@pytest.mark.parametrize("seconds", [-0.001, -3600, 60])
async def test_what_comes_too_late_is_not_begun(seconds: float, tmp_path: Path, http: httpx2.AsyncClient):
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        client, owner = await begun(http, url, tmp_path)
        asked = ForwardingKeys(KEYS).seal(bell(client, owner, until=time.monotonic() + seconds).pack())
        assert kinds(asked, await http.post(owner.address, content=asked.sealed)) == [
            FrameKind.LATE,
            FrameKind.END,
        ]


@pytest.mark.parametrize("fields", [{"worker": "0" * 32}, {"session": "0" * 32}], ids=["worker", "session"])
async def test_what_is_for_somebody_else_is_not_begun(
    fields: dict[str, str], tmp_path: Path, http: httpx2.AsyncClient
):
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        client, owner = await begun(http, url, tmp_path)
        asked = ForwardingKeys(KEYS).seal(bell(client, owner, **fields).pack())
        assert kinds(asked, await http.post(owner.address, content=asked.sealed)) == [
            FrameKind.STRANGER,
            FrameKind.END,
        ]


async def test_the_keys_of_one_server_open_no_session_of_another(tmp_path: Path, http: httpx2.AsyncClient):
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    async with (
        crew("MCPServer", tmp_path, count=1, address=address) as (ours,),
        crew("MCPServer", tmp_path, count=1, address=address, keys=OTHERS) as (theirs,),
    ):
        client, owner = await begun(http, ours, tmp_path)
        await Posting(http).begin(theirs)  # now both listen
        asked = ForwardingKeys(OTHERS).seal(bell(client, owner).pack())
        assert kinds(asked, await http.post(address, content=asked.sealed)) == [
            FrameKind.STRANGER,
            FrameKind.END,
        ]


ROWS = {
    "no JSON": b"http://127.0.0.1:1",
    "no row": b'"http://127.0.0.1:1"',
    "too little": b'["http://127.0.0.1:1", "w"]',
    "no text": b'["http://127.0.0.1:1", "w", 1]',
    "a path": b'["http://169.254.169.254/latest/meta-data", "w", "m"]',
    "a query": b'["http://127.0.0.1:1/?really=yes", "w", "m"]',
    "another scheme": b'["file:///etc/passwd", "w", "m"]',
}


@pytest.mark.parametrize("row", ROWS)
async def test_whoever_writes_to_the_store_sends_no_worker_anywhere(
    row: str, tmp_path: Path, http: httpx2.AsyncClient
):
    store, client = SQLiteStore(tmp_path / "shared.db"), Posting(http, **{"mcp-session-id": "1" * 32})
    await store.put(SESSIONS, sha256(b"1" * 32).hexdigest(), ROWS[row], until=time.time() + 60)
    assert await SessionDirectory(store, clock=time.time).find("1" * 32) is None
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        assert (await client.call(url, "bell")).status_code == 404
    await store.close()


async def test_nothing_of_the_request_that_opened_a_session_is_kept(
    tmp_path: Path, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    """It may be long, and has the token in it."""
    sessions: list[LocalSession] = []
    add = LocalSessions.add

    def noted(self: LocalSessions, id: str, session: LocalSession) -> None:
        sessions.append(session)
        add(self, id, session)

    monkeypatch.setattr(LocalSessions, "add", noted)
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        await Posting(http, authorization="Bearer canary").begin(url)
    (session,) = sessions
    assert "canary" not in repr(session)


async def test_whoever_has_no_keys_learns_nothing(tmp_path: Path, http: httpx2.AsyncClient):
    async with crew("MCPServer", tmp_path, count=1) as (url,):
        client, owner = await begun(http, url, tmp_path)
        good = ForwardingKeys(KEYS).seal(bell(client, owner).pack()).sealed
        at = owner.address
        answers = [
            await http.get(at),
            await http.get(f"{at}/mcp", headers=client.headers),
            await client.call(f"{at}/mcp", "bell"),
            await http.post(at, content=b""),
            await http.post(at, content=b"x" * 6_000_000),
            await http.post(at, content=ForwardingKeys(OTHERS).seal(bell(client, owner).pack()).sealed),
            *[await http.post(at, content=changed) for changed in (good[:-1], good[1:], good + b"x")],
            *[
                await http.post(at, content=_changed(good, place))
                for place in (0, 15, 16, 200, len(good) - 1)
            ],
        ]
        assert {(answer.status_code, answer.content) for answer in answers} == {(404, b"")}


async def test_a_key_that_is_being_changed_still_opens(tmp_path: Path, http: httpx2.AsyncClient):
    async with (
        crew("MCPServer", tmp_path, count=1, keys=[*OTHERS, *KEYS]) as (newer,),
        crew("MCPServer", tmp_path, count=1, keys=[*KEYS, *OTHERS]) as (older,),
    ):
        for here, there in ((newer, older), (older, newer)):
            client = Posting(http)
            await client.begin(here)
            assert (await client.call(there, "bell")).status_code == 200


async def test_workers_with_other_keys_let_the_client_start_anew(tmp_path: Path, http: httpx2.AsyncClient):
    async with (
        crew("MCPServer", tmp_path, count=1) as (ours,),
        crew("MCPServer", tmp_path, count=1, keys=OTHERS) as (theirs,),
    ):
        client = Posting(http)
        await client.begin(ours)
        assert (await client.call(theirs, "bell")).status_code == 404
        # And with its own worker it goes on.
        assert (await client.call(ours, "bell")).status_code == 200


async def test_an_answer_that_was_changed_on_its_way_is_none():
    asked = ForwardingKeys(KEYS).seal(EMPTY.pack())
    heard = ForwardingKeys(KEYS).open(asked.sealed)
    assert heard is not None
    writer = FrameWriter(heard)
    pieces = [
        writer.frame(FrameKind.HERE, b"[]"),
        writer.body(b"one"),
        writer.body(b"two"),
        writer.frame(FrameKind.END),
    ]
    whole = b"".join(pieces)
    assert [frame.payload for frame in FrameReader(asked).read(whole)] == [b"[]", b"one", b"two", b""]
    forged = [
        whole[:16] + b"\xff" * 4 + whole[20:],
        _changed(whole, 25),
        _changed(whole, 3),
        pieces[0] + pieces[2],
        pieces[0] + pieces[1] + pieces[1],
        FrameWriter(heard).frame(FrameKind.HERE) + pieces[1],
    ]
    for change in forged:
        with pytest.raises(NotSealed):
            list(FrameReader(asked).read(change))


async def test_an_answer_comes_in_any_pieces():
    asked = ForwardingKeys(KEYS).seal(EMPTY.pack())
    heard = ForwardingKeys(KEYS).open(asked.sealed)
    assert heard is not None and Envelope.unpack(heard.text) == EMPTY
    writer, reader = FrameWriter(heard), FrameReader(asked)
    long = bytes(range(256)) * 4096
    said = writer.frame(FrameKind.HERE) + writer.body(long) + writer.frame(FrameKind.END)
    read = [frame for at in range(0, len(said), 1000) for frame in reader.read(said[at : at + 1000])]
    assert b"".join(frame.payload for frame in read) == long
    assert [read[0].kind, read[-1].kind] == [FrameKind.HERE, FrameKind.END] and len(read) == 6


def _changed(sealed: bytes, place: int) -> bytes:
    return sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
