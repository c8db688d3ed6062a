"""Workers behind nginx, with a store between them, for the length of a block."""

import secrets
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.cluster.forks import fork_server
from bench.cluster.server import Settings
from bench.cluster.worker import Worker
from scripts.services import Nginx, free_port, nginx

LEASE = 1.0
"""Seconds. In earnest it is fifteen; a flow whose worker was killed waits that long, and so would the tests."""

A_WAY = 0.01
"""Seconds that an effect takes on its way and back: a worker may be killed before it, in its middle and behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What a test can reach into."""

    settings: Settings
    workers: list[Worker]
    proxy: Nginx
    output: Path

    @property
    def port(self) -> int:
        """What clients connect to."""
        return self.proxy.port

    @property
    def effects(self) -> Path:
        return Path(self.settings.effects)

    @property
    def logs(self) -> str:
        """What the workers wrote."""
        return self.output.read_text(errors="replace")


@contextmanager
def cluster(
    store: str,
    *,
    workers: int = 3,
    lease: float = LEASE,
    way: float = A_WAY,
    repeats: bool = False,
    recipe: Path | None = None,
) -> Generator[Cluster]:
    """A store is named by its URL; `sqlite:` alone is a file of the cluster's own.

    Where the proxy `repeats`, it sends to another worker what it had sent to one that died. A `recipe` is a file of
    nginx's that is used as it stands.
    """
    with TemporaryDirectory(prefix="askback-cluster-") as name, ExitStack() as stack:
        home = Path(name)
        settings = Settings(
            store=f"sqlite:///{home}/store.db" if store == "sqlite:" else store,
            lease=lease,
            keys=[secrets.token_hex(32)],
            effects=str(home / "effects.txt"),
            way=way,
        )
        hatched = stack.enter_context(fork_server(settings, home / "output.txt"))
        them = [Worker(hatched, free_port()) for _ in range(workers)]
        for worker in them:
            stack.callback(worker.kill)
            worker.start()
        proxy = stack.enter_context(nginx([worker.url for worker in them], repeats=repeats, recipe=recipe))
        yield Cluster(settings=settings, workers=them, proxy=proxy, output=hatched.output)
