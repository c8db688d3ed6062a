"""Redis with throw-away data: with a password and TLS where asked, and with or without a memory that outlives it."""

import socket
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from scripts.services.certificates import Certificates, make_certificates
from scripts.services.programs import REDIS
from scripts.services.service import LOOPBACK, Service, give_to_runner, running

KEEPS = ("appendonly yes", "appendfsync always", 'save ""')
FORGETS = ("appendonly no", 'save ""')


class RedisServer(Service):
    """One database server; `certificate` is the authority that a client of `rediss://` is to trust."""

    def __init__(self, home: Path, port: int, *, password: str | None, tls: bool, keeps: bool) -> None:
        super().__init__(home, port)
        self.password = password
        self.keeps = keeps
        self._certificates: Certificates | None = make_certificates(home) if tls else None

    @property
    def url(self) -> str:
        scheme = "rediss" if self._certificates else "redis"
        secret = f":{self.password}@" if self.password else ""
        return f"{scheme}://{secret}{LOOPBACK}:{self.port}/0"

    @property
    def certificate(self) -> Path | None:
        return self._certificates.authority if self._certificates else None

    @property
    def command(self) -> list[str]:
        return [REDIS.path(), str(self._settings)]

    @property
    def _settings(self) -> Path:
        return self.home / "redis.conf"

    def prepare(self) -> None:
        lines = [f"bind {LOOPBACK}", f'dir "{self.home}"', *(KEEPS if self.keeps else FORGETS)]
        lines += [f"requirepass {self.password}"] if self.password else []
        if files := self._certificates:
            lines += ["port 0", f"tls-port {self.port}", "tls-auth-clients no"]
            lines += [f'tls-cert-file "{files.certificate}"', f'tls-key-file "{files.key}"']
            lines += [f'tls-ca-cert-file "{files.authority}"']
            give_to_runner(*files)
        else:
            lines += [f"port {self.port}"]
        self._settings.touch(mode=0o600)
        self._settings.write_text("\n".join(lines) + "\n")
        give_to_runner(self._settings)

    def answers(self) -> bool:
        greeting = f"AUTH {self.password}\r\n" if self.password else ""
        try:
            with self._connection() as connection:
                connection.sendall(f"{greeting}PING\r\nQUIT\r\n".encode())
                said = b"".join(iter(lambda: connection.recv(1024), b""))
        except OSError:
            return False
        return b"+PONG" in said

    def _connection(self) -> socket.socket:
        plain = socket.create_connection((LOOPBACK, self.port), timeout=1)
        if self._certificates is None:
            return plain
        context = ssl.create_default_context(cafile=self._certificates.authority)
        return context.wrap_socket(plain, server_hostname=LOOPBACK)


@contextmanager
def redis_server(
    *, password: str | None = None, tls: bool = False, keeps: bool = True, port: int = 0
) -> Generator[RedisServer]:
    """Redis for the length of the block. Where it `keeps`, each write is on the disk before it is answered."""
    REDIS.path()

    def make(home: Path, port: int) -> RedisServer:
        return RedisServer(home, port, password=password, tls=tls, keeps=keeps)

    with running(make, port) as server:
        yield server
