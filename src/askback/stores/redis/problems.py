"""What the errors of Redis mean to an operator, and what helps."""

from collections.abc import Sequence

from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterError,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
)

from askback.errors import StoreUnavailable

ITSELF = "The store goes on by itself afterwards."


CLOSED = "it was closed while somebody waited"

RIGHTS = (
    "Give its user the keys and channels with our prefix, and INFO beside what is not dangerous: "
    "ACL SETUSER ... ~{PREFIX}:* &{PREFIX}:* +@all -@dangerous +info."
)

ADVICE: Sequence[tuple[type[Exception] | tuple[type[Exception], ...], str]] = (
    (TimeoutError, f"Look whether it is overloaded or stopped. {ITSELF}"),
    (BusyLoadingError, f"It reads its data from the disk. {ITSELF}"),
    (AuthenticationError, "Look at the user and the password in the URL: redis://user:password@host."),
    (NoPermissionError, RIGHTS),
    (OutOfMemoryError, f"Give it more memory (maxmemory). {ITSELF}"),
    (ReadOnlyError, f"It is a replica. Name the one that is written to; after a failover: {ITSELF.lower()}"),
    ((ClusterError, MovedError), "Name the node that holds our keys, or a Redis that is no cluster."),
    (OSError, f"Look whether it is running, and reachable from here. {ITSELF}"),
)

BY_WORD = {
    CLOSED: "Close it after the last call.",
    "can't run this command": RIGHTS,  # in a script, Redis 7.0 has no name for it
    "MISCONF": f"It cannot write to its disk: look at its log. {ITSELF}",
    "NOREPLICAS": f"It wants more replicas than are there. {ITSELF}",
    "MASTERDOWN": f"It is a replica that has lost its primary. {ITSELF}",
    "BUSY ": "Somebody's script keeps it busy: SCRIPT KILL ends that.",
    "CERTIFICATE_VERIFY_FAILED": "Name the authority that signed its certificate: rediss://...?ssl_ca_certs=ca.pem",
    "WRONGTYPE": "Another program has written to our keys. Give Askback a prefix of its own: ?prefix=...",
}


def explain(error: Exception, *, store: str, prefix: str) -> StoreUnavailable:
    """An error of redis-py in the words of an operator, with what helps."""
    text = " ".join(str(error).split()) or type(error).__name__
    words = [advice for word, advice in BY_WORD.items() if word in text]
    advice = next(iter(words), "") or next((advice for kind, advice in ADVICE if isinstance(error, kind)), "")
    advice = (advice or f"Look whether it is running, and reachable from here. {ITSELF}").replace(
        "PREFIX", prefix
    )
    return StoreUnavailable(store=store, problem=text, advice=advice)
