"""nginx in front of several workers: in turn, or each session to the worker that began it."""

import os
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.services.family import family
from scripts.services.programs import NGINX
from scripts.services.service import LOOPBACK, Service, give_to_runner, listens, running

PLAIN = """\
daemon off;
pid {home}/nginx.pid;
error_log stderr warn;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi;
  scgi_temp_path {home}/scgi;
  keepalive_requests 1000000;
  upstream workers {{
{workers}
    keepalive 64;
  }}
{maps}
  server {{
    listen {loopback}:{port};
    location / {{
      proxy_pass http://{upstream};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 120s;
      proxy_next_upstream error timeout non_idempotent;
{session}
    }}
  }}
}}
"""
"""Streams are passed on as they come. A worker that died is passed over, and what was sent to it is sent to the next:
that is what a retrying proxy does, and Askback is made for it."""

ONE = """  upstream worker{number} {{ server {address}; keepalive 64; }}"""

STICKY_MAPS = """\
  map $upstream_addr $worker {{
{names}
  }}
  map $upstream_http_mcp_session_id $named_session {{ "" ""; default "$worker-$upstream_http_mcp_session_id"; }}
  map $http_mcp_session_id $owner {{
    default workers;
{owners}
  }}
  map $http_mcp_session_id $session {{ default $http_mcp_session_id; "~^worker[0-9]+-(?<id>.+)$" $id; }}"""

STICKY_SESSION = """\
      proxy_hide_header Mcp-Session-Id;
      add_header Mcp-Session-Id $named_session always;
      proxy_set_header Mcp-Session-Id $session;"""
"""The proxy writes the worker's name before each session's id, and takes it off again."""


class Nginx(Service):
    """One proxy; its upstreams are `host:port`, with or without `http://`."""

    def __init__(self, home: Path, port: int, *, upstreams: Sequence[str], sticky: bool) -> None:
        super().__init__(home, port)
        self.upstreams = [upstream.removeprefix("http://").rstrip("/") for upstream in upstreams]
        self.sticky = sticky

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def command(self) -> list[str]:
        return [NGINX.path(), "-p", str(self.home), "-e", "stderr", "-c", str(self._settings)]

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
    """What its file says. No worker is left out for having failed: it is back in a moment."""
    numbered = list(enumerate(nginx.upstreams))
    alone = [ONE.format(number=number, address=address) for number, address in numbered]
    names = [f'    "~{address.replace(".", "[.]")}$" worker{number};' for number, address in numbered]
    owners = [f'    "~^worker{number}-" worker{number};' for number, _address in numbered]
    maps = [*alone, STICKY_MAPS.format(names="\n".join(names), owners="\n".join(owners))]
    return PLAIN.format(
        home=nginx.home,
        loopback=LOOPBACK,
        port=nginx.port,
        workers="\n".join(f"    server {address} max_fails=0;" for address in nginx.upstreams),
        upstream="$owner" if nginx.sticky else "workers",
        maps="\n".join(maps) if nginx.sticky else "",
        session=STICKY_SESSION if nginx.sticky else "",
    )


@contextmanager
def nginx(upstreams: Sequence[str], *, sticky: bool = False, port: int = 0) -> Generator[Nginx]:
    """nginx for the length of the block: requests go to the upstreams in turn; where `sticky`, those of a session to
    the worker that began it."""
    NGINX.path()

    def make(home: Path, port: int) -> Nginx:
        return Nginx(home, port, upstreams=upstreams, sticky=sticky)

    with running(make, port) as server:
        yield server
