"""Postgres with a throw-away cluster and one empty database; whoever is on this machine may connect while it lasts."""

import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from scripts.services.programs import POSTGRES
from scripts.services.service import LOOPBACK, Service, running

NAME = "askback"
"""Of the role and of the database."""

SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "200",
    "dynamic_shared_memory_type": "mmap",  # in its own folder, so nothing stays behind when it is killed
    "fsync": "off",  # its processes are killed here, never the machine: what it wrote is there
    "full_page_writes": "off",
}


class PostgresServer(Service):
    """One cluster; a killed one recovers from its log when it is started again."""

    farewell = signal.SIGINT
    """SIGTERM would wait for its clients to leave."""

    @property
    def url(self) -> str:
        return f"postgresql://{NAME}@{LOOPBACK}:{self.port}/{NAME}"

    @property
    def command(self) -> list[str]:
        settings = [f"--{name}={value}" for name, value in SETTINGS.items()]
        return [POSTGRES.path(), "-D", str(self._cluster), "-p", str(self.port), *settings]

    @property
    def _cluster(self) -> Path:
        return self.home / "cluster"

    def prepare(self) -> None:
        options = ("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
        self.run(_beside("initdb"), "-D", str(self._cluster), "-U", NAME, *options)

    def answers(self) -> bool:
        asked = [_beside("pg_isready"), "--quiet", f"--host={LOOPBACK}", f"--port={self.port}"]
        return subprocess.run(asked).returncode == 0

    def create_database(self) -> None:
        self.run(_beside("createdb"), f"--host={LOOPBACK}", f"--port={self.port}", f"--username={NAME}", NAME)


def _beside(name: str) -> str:
    return str(Path(POSTGRES.path()).with_name(name))


@contextmanager
def postgres_server(*, port: int = 0) -> Generator[PostgresServer]:
    """Postgres for the length of the block."""
    POSTGRES.path()
    with running(PostgresServer, port) as server:
        server.create_database()
        yield server
