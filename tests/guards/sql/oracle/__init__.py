"""An oracle for the engines of `guard_sql`: random statements on two databases that differ only in tagged values.

A statement whose outcome differs between the two, although the engine's inspection reports nothing, is a leak.
`python -m tests.guards.sql.oracle --engine duckdb --count 200000 --seed 1` runs it for longer than the tests do.
"""
