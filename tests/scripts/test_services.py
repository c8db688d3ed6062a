"""The servers that tests and the bench start: they serve, they can be killed and paused, and nothing of them stays."""

import os
import pwd
import socket
import subprocess
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from scripts.machine import Missing, Step
from scripts.services import (
    CannotStart,
    PostgresServer,
    RedisServer,
    Service,
    free_port,
    nginx,
    postgres_server,
    redis_server,
)
from scripts.services.__main__ import install, nothing_starts
from scripts.services.family import family, is_alive
from scripts.services.programs import NGINX, POSTGRES, PROGRAMS, REDIS, Program
from tests.support.paths import ROOT
from tests.support.services import found

pytestmark = pytest.mark.services

A_WHILE = 1.0
"""For a client that gets no answer."""

CLUSTER = ROOT / "examples" / "cluster"

Start = Callable[[], AbstractContextManager[Service]]
SERVICES: dict[str, Start] = {
    "redis": redis_server,
    "redis with a password over tls": lambda: redis_server(password="hunter2", tls=True),
    "postgres": postgres_server,
    "nginx": lambda: nginx([f"127.0.0.1:{free_port()}"]),
}


@pytest.fixture(params=SERVICES)
def start(request: pytest.FixtureRequest) -> Start:
    @contextmanager
    def started() -> Generator[Service]:
        with found(), SERVICES[request.param]() as service:
            yield service

    return started


def owners(pids: Iterable[int]) -> Generator[int]:
    for pid in pids:
        with suppress(FileNotFoundError):  # Postgres has children that end by themselves
            yield Path(f"/proc/{pid}").stat().st_uid


def say_to_redis(server: RedisServer, *words: str, password: str = "", authority: Path | None = None) -> str:
    """What Redis's own client gets for an answer."""
    secret = ["-a", password, "--no-auth-warning"] if password else []
    trusted = ["--tls", *(["--cacert", str(authority)] if authority else [])] if server.certificate else []
    command = ["redis-cli", "-p", str(server.port), *secret, *trusted, *words]
    told = subprocess.run(command, capture_output=True, text=True, timeout=A_WHILE)
    return (told.stdout + told.stderr).strip()


def say_to_postgres(server: PostgresServer, sql: str) -> str:
    """What Postgres's own client gets for an answer."""
    psql = str(Path(POSTGRES.path()).with_name("psql"))
    command = [psql, "--no-psqlrc", "--tuples-only", "--no-align", "--command", sql, server.url]
    return subprocess.run(command, capture_output=True, text=True, timeout=A_WHILE).stdout.strip()


def test_a_killed_service_is_down_and_serves_again_on_its_port(start: Start):
    with start() as service:
        url = service.url
        assert service.answers()
        service.kill()
        assert not service.answers()
        service.start()
        assert service.answers() and service.url == url


def test_nothing_of_a_service_stays_behind_its_block(start: Start):
    with start() as service:
        assert service.pid
        members = family(service.pid)
        assert members and service.home.is_dir()
    assert not any(map(is_alive, members))
    assert not service.home.exists()
    assert not service.answers()


def test_nothing_stays_behind_a_block_that_failed_while_the_service_was_paused(start: Start):
    seen: list[Service] = []
    members: list[int] = []

    def fail() -> None:
        with start() as service:
            seen.append(service)
            members.extend(family(service.pid or 0))
            service.pause()
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()
    assert members and not any(map(is_alive, members))
    assert not seen[0].home.exists()


def test_root_gives_its_services_to_nobody(start: Start):
    expected = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
    with start() as service:
        assert service.pid
        assert set(owners(family(service.pid))) == {expected}


@pytest.mark.parametrize("keeps", [True, False])
def test_redis_keeps_its_data_when_it_is_killed_where_that_is_wanted(keeps: bool):
    with found(), redis_server(keeps=keeps) as server:
        say_to_redis(server, "SET", "name", "Ada")
        server.kill()
        server.start()
        assert say_to_redis(server, "GET", "name") == ("Ada" if keeps else "")


def test_redis_asks_for_its_password_and_shows_a_certificate():
    with found(), redis_server(password="hunter2", tls=True) as server:
        authority = server.certificate
        assert say_to_redis(server, "PING", password="hunter2", authority=authority) == "PONG"
        assert "NOAUTH" in say_to_redis(server, "PING", authority=authority)
        assert "certificate verify failed" in say_to_redis(server, "PING", password="hunter2")


def test_a_paused_redis_keeps_silent_until_it_is_resumed():
    with found(), redis_server() as server:
        server.pause()
        with pytest.raises(subprocess.TimeoutExpired):
            say_to_redis(server, "PING")
        server.resume()
        assert say_to_redis(server, "PING") == "PONG"


def test_postgres_keeps_its_data_when_it_is_killed_and_silence_while_it_is_paused():
    with found(), postgres_server() as server:
        say_to_postgres(server, "create table people as select 'Ada' as name")
        server.kill()
        server.start()
        assert say_to_postgres(server, "select name from people") == "Ada"
        server.pause()
        with pytest.raises(subprocess.TimeoutExpired):
            say_to_postgres(server, "select name from people")
        server.resume()
        assert say_to_postgres(server, "select name from people") == "Ada"


@contextmanager
def upstream(name: str, port: int | None = None) -> Generator[str]:
    """A worker that begins a session where there is none, and tells its own name and the session it was asked for."""
    with socket.create_server(("127.0.0.1", port or free_port())) as listener:
        threading.Thread(target=_serve, args=(listener, name), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, name: str) -> None:
    while True:
        try:
            connection, _address = listener.accept()
        except OSError:
            return
        with connection:
            asked = connection.recv(65536).decode().lower()
            session = asked.partition("mcp-session-id: ")[2].partition("\r\n")[0]
            begins = "" if session else f"Mcp-Session-Id: of-{name}\r\n"
            body = f"{name} {session}"
            connection.sendall(
                f"HTTP/1.1 200 OK\r\n{begins}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
            )


def get(port: int, session: str = "") -> tuple[str, str]:
    """The session that was begun, and the body."""
    header = f"Mcp-Session-Id: {session}\r\n" if session else ""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: here\r\n{header}Connection: close\r\n\r\n".encode())
        said = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    head, _, body = said.partition("\r\n\r\n")
    return head.partition("Mcp-Session-Id: ")[2].partition("\r\n")[0], body.strip()


def test_nginx_gives_requests_to_its_workers_in_turn_and_passes_over_a_dead_one():
    dead = f"127.0.0.1:{free_port()}"
    with found(), upstream("one") as one, upstream("two") as two, nginx([one, two, dead]) as proxy:
        told = [get(proxy.port)[1] for _ in range(6)]
        assert sorted(told) == ["one"] * 3 + ["two"] * 3
        proxy.cut()
        assert get(proxy.port)[1] in {"one", "two"}


def test_the_recipe_without_stickiness_gives_requests_to_its_workers_in_turn():
    with ExitStack() as stack, found():
        them = [stack.enter_context(upstream(name)) for name in ("one", "two", "three")]
        proxy = stack.enter_context(nginx(them, recipe=CLUSTER / "nginx.conf"))
        assert len({get(proxy.port)[1] for _ in range(3)}) == 3


def test_the_sticky_recipe_gives_a_session_to_the_worker_that_began_it():
    with ExitStack() as stack, found():
        them = [stack.enter_context(upstream(name)) for name in ("one", "two", "three")]
        proxy = stack.enter_context(nginx(them, recipe=CLUSTER / "sticky.conf"))
        sessions = [get(proxy.port)[0] for _ in range(3)]
        assert sorted(sessions) == ["of-one-w1", "of-three-w3", "of-two-w2"]
        for session in sessions:
            name = session.split("-")[1]
            assert {get(proxy.port, session)[1] for _ in range(3)} == {f"{name} of-{name}"}


def test_behind_the_sticky_recipe_the_others_answer_for_a_worker_that_restarts_until_it_is_back():
    """They tell the client that the session is gone, and nginx does not tell it that there is no gateway."""
    with ExitStack() as stack, found():
        first = ExitStack()
        url = first.enter_context(upstream("one"))
        them = [url, *(stack.enter_context(upstream(name)) for name in ("two", "three"))]
        proxy = stack.enter_context(nginx(them, recipe=CLUSTER / "sticky.conf"))
        session = next(one for _ in range(3) if (one := get(proxy.port)[0]).endswith("-w1"))
        first.close()
        assert {get(proxy.port, session)[1].split()[0] for _ in range(3)} <= {"two", "three"}
        stack.enter_context(upstream("one", int(url.rpartition(":")[2])))
        assert get(proxy.port, session)[1] == "one of-one"


def test_a_port_that_is_taken_is_told():
    with found(), redis_server() as server:
        told = f"Port {server.port} is taken"
        with pytest.raises(CannotStart, match=told), redis_server(port=server.port):
            pass


def test_a_service_that_ends_at_once_tells_what_it_said():
    told = r"ended at once\. It said:[^$]*not-an-upstream"
    with found(), pytest.raises(CannotStart, match=told), nginx(["not-an-upstream:1"]):
        pass


def old(self: Program, path: str) -> tuple[int, int]:
    return (0, 9)


def nowhere(self: Program) -> None:
    return None


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.package)
def test_a_program_that_is_too_old_is_told_with_advice(program: Program, monkeypatch: pytest.MonkeyPatch):
    start = {REDIS: redis_server, POSTGRES: postgres_server, NGINX: lambda: nginx(["127.0.0.1:1"])}[program]
    monkeypatch.setattr(Program, "version", old)
    told = f"{program.title} .* or newer is missing.*apt-get install {program.package}.*make services"
    with pytest.raises(Missing, match=told), start():
        pass


def test_a_test_whose_program_is_missing_is_left_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Program, "find", nowhere)
    monkeypatch.delenv("CI", raising=False)
    told = r"left out: Redis 7\.0 or newer is missing"
    with pytest.raises(pytest.skip.Exception, match=told), found(), redis_server():
        pass


def test_where_nothing_can_be_installed_all_that_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Program, "find", nowhere)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Missing, match=r"Redis.*Postgres.*nginx"):
        install(Step(name="services", home=tmp_path))


def test_while_packages_are_installed_nothing_starts_and_afterwards_all_is_as_it_was(tmp_path: Path):
    policy = tmp_path / "policy-rc.d"
    with nothing_starts(policy):
        assert os.access(policy, os.X_OK)
    assert not policy.exists()
    policy.write_text("#!/bin/sh\nexit 0\n")
    with nothing_starts(policy):
        assert "exit 0" in policy.read_text()
    assert policy.exists()
