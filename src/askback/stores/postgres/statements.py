"""The statements of a store, and how keys are encoded in them. The larger verbs are functions in the database."""

import hashlib

MAX_KEY_LENGTH = 1000
"""Bytes that an index takes well. A longer key is replaced by its digest, since keys are never listed."""

EPOCH = "SELECT epoch(current_setting('askback.place'))"
CLAIM = "SELECT * FROM claim($1, $2, $3, $4, $5, $6, $7, $8, $9, current_setting('askback.place'))"
RECORD = "SELECT record($1, $2, $3, $4)"
NOTE = "UPDATE claims SET noted = $3 WHERE key = $1 AND token = $2 RETURNING true"
RELEASE = "SELECT release($1, $2)"
RENEW = """
UPDATE claims c SET alive_until = clock_timestamp() + $3 FROM unnest($1::bytea[], $2::text[]) AS held (key, token)
WHERE c.key = held.key AND c.token = held.token RETURNING c.token
"""

SETTLE = "SELECT settle($1, $2, $3, $4)"
SETTLED = "SELECT value FROM settled WHERE key = $1 AND until > $2"
SPEND = "SELECT spend($1, $2, $3, $4)"

GET = "SELECT value FROM vault WHERE owner = $1 AND name = $2 AND (until IS NULL OR until > $3)"
PUT = """
INSERT INTO vault (owner, name, value, until, put_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value, until = excluded.until, put_by = excluded.put_by
"""
PUT_CAPPED = "SELECT put_capped($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
DELETE = """
DELETE FROM vault WHERE owner = $1 AND name = $2 AND (until IS NULL OR until > $3) RETURNING true
"""
REMOVE = """
DELETE FROM vault WHERE owner = $1 AND name = $2 AND value = $3 AND (until IS NULL OR until > $4) RETURNING true
"""
REPLACE = """
UPDATE vault SET value = $5, until = $6, put_by = $7
WHERE owner = $1 AND name = $2 AND value = $3 AND (until IS NULL OR until > $4) RETURNING true
"""
WAS_PUT = "SELECT true FROM vault WHERE owner = $1 AND name = $2 AND put_by = $3"
LIST = """
SELECT owner, name FROM vault
WHERE owner >= $1 AND ($2::bytea IS NULL OR owner < $2) AND ($3::bytea IS NULL OR (owner, name) > ($3, $4))
    AND (until IS NULL OR until > $5)
ORDER BY owner, name LIMIT $6
"""

APPEND = "SELECT append($1, $2, $3)"
READ = "SELECT number, line FROM ledger WHERE number > $1 ORDER BY number LIMIT $2"
TRIM = """
WITH gone AS (
    DELETE FROM ledger WHERE number IN (
        SELECT number FROM ledger WHERE number < $1 AND number < (SELECT number FROM ledger_end)
        ORDER BY number LIMIT $2)
    RETURNING number)
SELECT count(*) FROM gone
"""

FORGET = "SELECT forget($1, $2)"
FORGET_ALONE = """
SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended('askback sweep ' || current_schema(), 0))
    THEN forget($1, $2) END
"""
"""One process at a time is enough."""

COUNT = """
SELECT (SELECT count(*) FROM claims WHERE until > $1 OR token IS NOT NULL AND NOT is_dead(token, alive_until, lease))
    + (SELECT count(*) FROM settled WHERE until > $1)
    + (SELECT count(*) FROM spent WHERE until > $1)
    + (SELECT count(*) FROM vault WHERE until IS NULL OR until > $1)
"""


def encode_text(text: str) -> bytes:
    """Encode any text, also half a surrogate pair. The bytes sort like the characters."""
    return text.encode(errors="surrogatepass")


def decode_text(kept: bytes) -> str:
    return kept.decode(errors="surrogatepass")


def encode_key(text: str) -> bytes:
    key = encode_text(text)
    return key if len(key) <= MAX_KEY_LENGTH else b"sha256 " + hashlib.sha256(key).digest()


def encode_row(owner: str, name: str) -> tuple[bytes, bytes]:
    return encode_text(owner), encode_text(name)


def encode_range(prefix: str) -> tuple[bytes, bytes | None]:
    """The first text that begins with the prefix, and the first behind all of them, if there can be one."""
    first = encode_text(prefix)
    return first, first[:-1] + bytes([first[-1] + 1]) if first else None  # no byte of UTF-8 is 255
