"""From a URL to a client of redis-py, which is typed so loosely that it is `Any` here."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import ReadOnlyError, RedisError

from askback.errors import OperatorError

CONNECT_TIMEOUT = 2.0

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
        try:
            address.client().connection_pool.make_connection()
        except (TypeError, ValueError, RedisError) as error:
            raise OperatorError(f"{address.name} is no address of a Redis: {error}. Write {FORM}.") from None
        return address

    def client(self, on_connect: Callable[[Any], Awaitable[None]] | None = None, *, retries: int = 1) -> Any:
        """A client of redis-py for one event loop; it connects with its first command.

        A command is sent again where the connection broke, and where it leads to a replica: after a failover the name
        of the host may lead elsewhere, while a primary that became a replica keeps its connections.
        """
        keepalive = {} if self._url.startswith("unix:") else {"socket_keepalive": True}
        return cast("Any", Redis).from_url(
            self._url,
            client_name="askback",
            protocol=2,
            redis_connect_func=on_connect,
            retry=Retry(
                NoBackoff(), retries, supported_errors=(ConnectionLost, ReadOnlyError) if retries else ()
            ),
            socket_connect_timeout=CONNECT_TIMEOUT,
            # Our own time limit is around the whole command. This one is `asyncio.wait_for`, which may swallow the
            # cancellation of a task before Python 3.12.
            socket_timeout=None,
            **keepalive,
        )


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
