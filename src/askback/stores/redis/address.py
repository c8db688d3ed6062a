"""From a URL to connections. All that is loosely typed in redis-py is given its types here."""

import re
from asyncio import StreamWriter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

import redis.asyncio.connection as on_loops
import redis.connection as in_threads
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from askback.errors import OperatorError

SECONDS_TO_CONNECT = 2.0

SECONDS_TO_ANSWER = 20.0
"""A Redis that stands still for less than this has lost nothing: what was asked waits in its socket, in order. A client
of ours waits longer than that for an answer, and the SDK's drops an error without a word on 2025-11-25."""

SECONDS_TO_RENEW = 5.0
"""For the thread that renews leases: it may ask twice, so it looks for another connection well within a lease."""

Argument = bytes | str | int

FORM = '"redis://:password@host:6379/0", or rediss:// for TLS'

ESCAPES = (
    "its port is no number, or its password has signs that mean something there: %2F is /, %23 is #, %40 is @"
)

TLS = frozenset(
    {
        "ssl_ca_certs",
        "ssl_ca_path",
        "ssl_cert_reqs",
        "ssl_certfile",
        "ssl_check_hostname",
        "ssl_keyfile",
    }
)
PARAMETERS: Mapping[str, frozenset[str]] = {
    "redis": frozenset({"db", "prefix"}),
    "rediss": frozenset({"db", "prefix"}) | TLS,
    "unix": frozenset({"db", "prefix"}),
}
"""What may stand behind the question mark: the rest is ours to decide, or a slip of the pen."""

PREFIX = re.compile(r"[^{}\s]{1,100}")
"""Braces tell a cluster what belongs together, and are ours."""


class Connection(Protocol):
    """What we use of redis-py's connection for event loops."""

    @property
    def is_connected(self) -> bool: ...
    async def connect(self) -> None: ...
    async def disconnect(self, nowait: bool = False) -> None: ...
    async def send_packed_command(self, command: bytes, check_health: bool = True) -> None: ...
    async def read_response(self, *, disconnect_on_error: bool = True) -> Any: ...


def is_whole(connection: Connection) -> bool:
    """Whether it can be written to: what is written to one that broke is lost, and asyncio complains of each."""
    writer: StreamWriter | None = getattr(connection, "_writer", None)
    return connection.is_connected and not (writer is not None and writer.is_closing())


class ThreadConnection(Protocol):
    """What we use of the one for threads."""

    def connect(self) -> None: ...
    def disconnect(self) -> None: ...
    def send_command(self, *args: Argument) -> None: ...
    def read_response(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Address:
    """Where a Redis is, and which keys in it are ours. Printed without what is secret in it."""

    name: str
    prefix: str
    _url: str = field(repr=False)

    @classmethod
    def parse(cls, url: str, *, prefix: str) -> "Address":
        parts = _split(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if unknown := sorted(query.keys() - PARAMETERS[parts.scheme]):
            known = ", ".join(sorted(PARAMETERS[parts.scheme]))
            advice = "It goes with rediss://, which is TLS" if unknown[0] in TLS else f"There is {known}"
            raise OperatorError(f"{_name(parts, query)}: ?{unknown[0]}= is not known here. {advice}.")
        prefix = query.pop("prefix", prefix)
        if not PREFIX.fullmatch(prefix):
            raise OperatorError(
                f"prefix={prefix!r:.120} cannot begin a key. Take up to 100 characters without spaces and braces."
            )
        address = cls(_name(parts, query), prefix, parts._replace(query=urlencode(query)).geturl())
        address._read()
        return address

    def connection(self) -> Connection:
        """Still to be connected."""
        return cast("Connection", self._make(on_loops, socket_timeout=None))

    def thread_connection(self) -> ThreadConnection:
        return cast("ThreadConnection", self._make(in_threads, socket_timeout=SECONDS_TO_RENEW))

    def _make(self, module: Any, *, socket_timeout: float | None) -> object:
        settings: dict[str, Any] = dict(
            cast("Callable[[str], Mapping[str, Any]]", module.parse_url)(self._url)
        )
        make = settings.pop("connection_class", module.Connection)
        if not issubclass(make, module.UnixDomainSocketConnection):
            settings["socket_connect_timeout"] = SECONDS_TO_CONNECT
            settings["socket_keepalive"] = True
        return make(
            **settings,
            socket_timeout=socket_timeout,
            client_name="askback",
            protocol=2,
            # Whether to try again is decided above, by what was asked.
            retry=Retry(NoBackoff(), 0),
        )

    def _read(self) -> None:
        """Fail now rather than with the first call."""
        try:
            self.connection()
        except (TypeError, ValueError, RedisError) as error:
            raise OperatorError(f"{self.name} is no address of a Redis: {error}. Write {FORM}.") from None


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        problem = _problem(parts)
    except ValueError:
        # Not in its own words: with a stray / or # in a password, it takes part of that for the port.
        parts, problem = urlsplit(""), ESCAPES
    if problem:
        raise OperatorError(f"The store's URL cannot be used: {problem}. Write {FORM}.")
    return parts


def _problem(parts: SplitResult) -> str:
    if "@" in parts.path + parts.query + parts.fragment:
        return ESCAPES
    if parts.scheme not in PARAMETERS:
        return "it is no address of a Redis"
    if parts.scheme == "unix":
        return "" if parts.path else "the path of a socket is missing"
    if parts.port == 0 or not parts.hostname:
        return "the host is missing"
    return "" if re.fullmatch(r"/?\d*", parts.path) else "behind the host comes the number of a database"


def _name(parts: SplitResult, query: Mapping[str, str]) -> str:
    database = query.get("db") or parts.path.strip("/") or "0"
    if parts.scheme == "unix":
        return f"unix://{parts.path}?db={query.get('db', '0')}"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or 6379}/{database}"
