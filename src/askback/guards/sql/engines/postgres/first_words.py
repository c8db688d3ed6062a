"""The first words of a statement. They only name the kind of what Postgres cannot look into; they decide no query."""

import re

from askback.guards.sql.names import split_words

BLANK = re.compile(r"\s+|--[^\r\n]*|/\*")

COMMENT = re.compile(r"/\*|\*/")

MAX_COMMENTS = 1_000
"""Blanks and comments that are skipped; what stands behind more of them is not looked at."""

WORD = re.compile(r"[A-Za-z_]+|\(")

QUERIES = frozenset({"select", "with", "values", "table", "insert", "update", "delete", "merge", "("})
"""How a statement begins of which Postgres stores a parse tree."""

COMMANDS = split_words(
    "abort alter analyse analyze begin call checkpoint close cluster comment commit copy create deallocate declare "
    "discard do drop end execute explain fetch grant import listen load lock move notify prepare reassign refresh "
    "reindex release repack reset revoke rollback savepoint security set show start truncate unlisten vacuum wait"
)
"""The first words of statements of which Postgres stores no parse tree."""

TWO_WORDS = frozenset({"alter", "comment", "create", "drop", "grant", "reassign", "refresh", "security"})

BESIDE = frozenset({"or", "replace", "temp", "temporary", "unlogged", "global", "local", "recursive"})

OPTIONS = re.compile(r"\(([\w\s,'.]*)\)")

AS = re.compile(r"(?i)\bas\b")

INTO = re.compile(r"(?i)\binto\b")

SHOW = re.compile(r"(?i)show\s++([\w.]++(?: [\w.]++)*+)[\s;]*+")

SHOWN = split_words(
    "application_name client_encoding datestyle default_transaction_isolation default_transaction_read_only "
    "integer_datetimes intervalstyle is_superuser lc_collate lc_ctype lc_messages lc_monetary lc_numeric lc_time "
    "lock_timeout max_connections search_path server_encoding server_version server_version_num "
    "session_authorization standard_conforming_strings statement_timeout timezone transaction_isolation "
    "transaction_read_only work_mem"
) | {"time zone", "transaction isolation level"}
"""Settings that hold no path and nothing of an application's own."""


def skip_blanks(text: str, at: int = 0) -> int:
    """Where the first word begins, behind blanks and comments, which Postgres nests; the end if nothing is found."""
    depth = 0
    for _ in range(MAX_COMMENTS):
        found = COMMENT.search(text, at) if depth else BLANK.match(text, at)
        if found is None:
            return len(text) if depth else at
        if found[0] == "/*":
            depth += 1
        elif depth:
            depth -= 1
        at = found.end()
    return len(text)


def read_words(text: str, most: int = 6) -> list[str]:
    """The first words, in small letters."""
    words: list[str] = []
    at = skip_blanks(text)
    while len(words) < most and (found := WORD.match(text, at)):
        words.append(found[0].lower())
        at = skip_blanks(text, found.end())
    return words


def name_kind(words: list[str]) -> str:
    """The kind of a statement: `create table`, `set`; empty if the words begin no command."""
    if not words or words[0] not in COMMANDS:
        return ""
    if words[0] not in TWO_WORDS:
        return words[0]
    rest = [word for word in words[1:] if word not in BESIDE]
    return " ".join([words[0], *rest[:1]])


def shows_setting(text: str) -> bool:
    """Whether it is SHOW of a setting that tells nothing about stored values or the machine."""
    found = SHOW.fullmatch(text[skip_blanks(text) :])
    return found is not None and " ".join(found[1].lower().split()) in SHOWN


def split_explain(text: str) -> tuple[str, bool]:
    """The statement behind EXPLAIN and its options, and whether EXPLAIN would run it."""
    at = skip_blanks(text, skip_blanks(text) + len("explain"))
    if options := OPTIONS.match(text, at):
        return text[options.end() :], "anal" in options[1].lower()
    is_run = False
    while (found := WORD.match(text, at)) and found[0].lower() in {"analyze", "analyse", "verbose"}:
        is_run |= found[0].lower() != "verbose"
        at = skip_blanks(text, found.end())
    return text[at:], is_run


def may_create_table(text: str) -> bool:
    """Whether it may be SELECT INTO, which Postgres refuses as the body of a function like any error of syntax."""
    return INTO.search(text) is not None and read_words(text, 1) not in (["insert"], ["merge"])


def find_query(text: str) -> str | None:
    """The text behind the first AS, if a query can begin so: CREATE TABLE ... AS. A wrong guess only adds columns."""
    found = AS.search(text)
    rest = text[found.end() :] if found else ""
    return rest if set(read_words(rest)[:1]) & QUERIES else None
