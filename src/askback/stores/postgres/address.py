"""The address of a database, read from the URL that an operator writes. No text made here holds a password."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from askback.errors import OperatorError

SCHEMES = ("postgres", "postgresql")

UNREADABLE = (
    "This address of a Postgres store cannot be read. Write "
    "postgresql://user:password@host:5432/database?schema=askback, and in a password %40 for @, %2F for /, %3F for ? "
    "and %23 for #."
)

OURS = ("connections", "migrate", "schema")

THEIRS = (
    *(
        "application_name",
        "database",
        "dbname",
        "gsslib",
        "host",
        "krbsrvname",
        "passfile",
        "password",
        "port",
    ),
    *("service", "ssl_max_protocol_version", "ssl_min_protocol_version", "sslcert", "sslcrl", "sslkey"),
    *("sslmode", "sslnegotiation", "sslpassword", "sslrootcert", "target_session_attrs", "user"),
)
"""Parameters that both libpq and asyncpg know. Another word would be taken for a setting of the server."""

SCHEMA = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
"""The schema also names the channel of notifications, which Postgres cuts off after 63 bytes."""

HOSTS = re.compile(r"(?:[\w.%-]*|\[[\w:.%]+\])(?::\d+)?")
"""One host of a list. Anything else may be the rest of a password, so it is not repeated in an error."""

CONNECTIONS = 5
"""Limit of the pool of one event loop; one more connection listens. A verb takes well under a millisecond."""

FLAGS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresAddress:
    """One schema of one database, and how to get there."""

    dsn: str = field(repr=False)
    """Without user and password, which go beside it."""
    user: str | None = field(repr=False)
    password: str | None = field(repr=False)
    shown: str
    schema: str
    migrates: bool | None = None
    """Whether a store brings its tables up to date by itself; None where it makes them, if there are none at all."""
    connections: int = CONNECTIONS

    @property
    def quoted_schema(self) -> str:
        return f'"{self.schema}"'


def read_address(url: str, *, schema: str) -> PostgresAddress:
    """Read a URL. A schema in the URL takes precedence over the argument."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise OperatorError(UNREADABLE) from None
    login, _, hosts = parts.netloc.rpartition("@")
    if parts.scheme not in SCHEMES or parts.fragment or not all(map(HOSTS.fullmatch, hosts.split(","))):
        raise OperatorError(UNREADABLE)
    if "@" in parts.path or "@" in parts.query:
        raise OperatorError(UNREADABLE)
    query = _read_query(parts.query)
    user, _, password = login.partition(":")
    theirs = {name: value for name, value in query.items() if name not in OURS and name != "password"}
    return PostgresAddress(
        dsn=f"postgresql://{hosts}{parts.path}?{urlencode({'application_name': 'askback', **theirs})}",
        user=unquote(user) or None,
        password=unquote(password) or query.get("password") or None,
        shown=_describe(hosts, unquote(parts.path), theirs),
        schema=_read_schema(query.get("schema", schema)),
        migrates=_read_flag(query["migrate"]) if "migrate" in query else None,
        connections=_read_connections(query.get("connections", str(CONNECTIONS))),
    )


def _read_query(written: str) -> dict[str, str]:
    query = dict(parse_qsl(written, keep_blank_values=True))
    unknown = sorted(query.keys() - {*OURS, *THEIRS})
    if unknown:
        raise OperatorError(
            f"Askback does not know {', '.join(unknown)} in the address of a Postgres store. It knows its own "
            f"{', '.join(OURS)}, and of libpq {', '.join(THEIRS)}."
        )
    return query


def _describe(hosts: str, path: str, theirs: Mapping[str, str]) -> str:
    where = theirs.get("host") or hosts or "localhost"
    database = path.strip("/") or theirs.get("dbname") or theirs.get("database") or ""
    return f"postgresql://{where}/{database}"


def _read_schema(written: str) -> str:
    if not SCHEMA.fullmatch(written):
        raise OperatorError(
            f"schema={written!r:.80} is no name for Askback's tables. Take letters, digits, _ and -, at most 63."
        )
    return written


def _read_flag(written: str) -> bool:
    if written.lower() not in FLAGS:
        raise OperatorError(f"migrate={written!r:.20} in the address of a store is neither 1 nor 0.")
    return FLAGS[written.lower()]


def _read_connections(written: str) -> int:
    if not (written.isdecimal() and 1 <= int(written) <= 100):
        raise OperatorError(
            f"connections={written!r:.20} in the address of a store is no number from 1 to 100."
        )
    return int(written)
