"""Tokens for the state of a database, which change with each change of its schema.

They sum up hashes of the transactions that wrote the rows of the server's own tables. A change writes rows by a
transaction of which no row could be seen before, so the sum is another one. The numbers themselves would not do: two
transactions at a time can write rows whose numbers have the sum of others.
"""

from collections.abc import Mapping
from typing import NamedTuple

CATALOGUE = {
    "pg_class": "oid >= 16384",
    "pg_namespace": "nspname !~ '^pg_'",
    "pg_attribute": "attrelid >= 16384",
    "pg_rewrite": "ev_class >= 16384",
    "pg_inherits": "inhrelid >= 16384",
    "pg_description": "objoid >= 16384",
}
"""Where the server keeps tables, views and comments, and how the rows that people made are told from its own."""

MEANING = {
    "pg_auth_members": "true",
    **{
        f"pg_{name}": "oid >= 16384"
        for name in (
            "attrdef",
            "cast",
            "constraint",
            "opclass",
            "operator",
            "policy",
            "proc",
            "trigger",
            "type",
        )
    },
}
"""Further tables in which a change can give a statement another meaning. A member of another role may see a schema that
stands earlier in the search path."""


def _sums(tables: Mapping[str, str]) -> str:
    rows = " UNION ALL ".join(
        f"SELECT xmin::text::bigint AS written FROM pg_catalog.{table} WHERE {condition}"
        for table, condition in tables.items()
    )
    return (
        f"(SELECT pg_catalog.concat_ws(' ', current_database(), count(*),"
        f" sum(pg_catalog.hashint8extended(written, 0))) FROM ({rows}) AS row)"
    )


CATALOGUE_VERSION = _sums(CATALOGUE)
"""An expression for the state of tables, views and comments."""

VERSION = f"""
SELECT pg_catalog.concat_ws(' ', current_user, session_user, pg_catalog.pg_my_temp_schema(),
  (SELECT pg_catalog.concat(r.rolsuper, r.rolinherit, r.rolbypassrls) FROM pg_catalog.pg_roles AS r
   WHERE r.rolname = current_user),
  current_setting('standard_conforming_strings'), current_setting('transform_null_equals'),
  current_setting('search_path')), {CATALOGUE_VERSION}, {_sums(MEANING)}
"""


class Version(NamedTuple):
    """The row of `VERSION`. It differs after every change that can give a statement another meaning."""

    session: str
    catalogue: str
    """The state of tables, views and comments, as a token that others may keep."""
    meaning: str
