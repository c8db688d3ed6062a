"""nginx in front of several workers: in turn, or as a recipe of a page has it."""

import os
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.services.family import family
from scripts.services.programs import NGINX
from scripts.services.service import LOOPBACK, Service, give_to_runner, listens, running

PLAIN = """\
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000;
  upstream workers {{
{workers}
    keepalive 64;
  }}
  server {{
    listen {loopback}:{port};
    location / {{
      proxy_pass http://workers;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 120s;
      proxy_next_upstream error timeout{repeats};
      add_header X-Served-By $upstream_addr always;
    }}
  }}
}}
"""
"""Streams are passed on as they come, and a worker that is down is passed over. Where it `repeats`, as some proxies do,
what was sent to a worker that died is sent to the next."""

TEMPORARY = """http {{
    client_body_temp_path "{home}/body";
    proxy_temp_path "{home}/proxy";
    fastcgi_temp_path "{home}/fastcgi";
    uwsgi_temp_path "{home}/uwsgi";
    scgi_temp_path "{home}/scgi";"""

RECIPE_PORTS = (8000, 8001, 8002, 8003)
"""What the recipes of examples/cluster call the proxy and its workers."""


class Nginx(Service):
    """One proxy; its upstreams are `host:port`, with or without `http://`."""

    def __init__(
        self, home: Path, port: int, *, upstreams: Sequence[str], recipe: Path | None, repeats: bool
    ) -> None:
        super().__init__(home, port)
        self.upstreams = [upstream.removeprefix("http://").rstrip("/") for upstream in upstreams]
        self.recipe = recipe
        self.repeats = repeats

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def command(self) -> list[str]:
        return [
            NGINX.path(),
            "-p",
            str(self.home),
            "-e",
            "stderr",
            "-g",
            self._directives,
            "-c",
            str(self._settings),
        ]

    @property
    def _directives(self) -> str:
        return f'daemon off; pid "{self.home}/nginx.pid"; error_log stderr warn;'

    @property
    def _settings(self) -> Path:
        return self.home / "nginx.conf"

    def prepare(self) -> None:
        self._settings.write_text(configuration(self))
        give_to_runner(self._settings)

    def answers(self) -> bool:
        return listens(self.port)

    def cut(self) -> None:
        """Every connection, to clients and to workers; it goes on serving."""
        for worker in family(self.pid)[1:] if self.pid else ():
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)


def configuration(nginx: Nginx) -> str:
    """What its file says, with places of its own for what it writes."""
    text = plain(nginx) if nginx.recipe is None else followed(nginx.recipe, nginx)
    return text.replace("http {", TEMPORARY.format(home=nginx.home), 1)


def plain(nginx: Nginx) -> str:
    """No worker is left out for having failed: it is back in a moment."""
    workers = "\n".join(f"    server {address} max_fails=0;" for address in nginx.upstreams)
    repeats = " non_idempotent" if nginx.repeats else ""
    return PLAIN.format(loopback=LOOPBACK, port=nginx.port, workers=workers, repeats=repeats)


def followed(recipe: Path, nginx: Nginx) -> str:
    """A page's recipe as it stands, on the ports of this proxy and its three workers."""
    text = recipe.read_text()
    ports = [str(nginx.port), *(address.rpartition(":")[2] for address in nginx.upstreams)]
    for written, port in zip(RECIPE_PORTS, ports, strict=True):
        text = text.replace(f":{written}", f":{port}")
    return text


@contextmanager
def nginx(
    upstreams: Sequence[str], *, recipe: Path | None = None, repeats: bool = False, port: int = 0
) -> Generator[Nginx]:
    """nginx for the length of the block: requests go to the upstreams in turn, or as a recipe of a page has it."""
    NGINX.path()

    def make(home: Path, port: int) -> Nginx:
        return Nginx(home, port, upstreams=upstreams, recipe=recipe, repeats=repeats)

    with running(make, port) as server:
        yield server
