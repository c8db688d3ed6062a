"""Parse trees of Postgres as other versions write them, and texts that are none."""

import pytest

from askback.guards.sql.engines.postgres.node_tree import Node, UnknownTree, find_queries, parse_tree
from askback.guards.sql.engines.postgres.query import TreeWalk
from askback.guards.sql.engines.postgres.relation import PostgresRelation
from tests.guards.sql.misses import Misses

TABLE = PostgresRelation(schema="public", name="customers", kind="r", columns=("id", "email", "", "country"))

RELATION = (
    '{RANGETBLENTRY :alias <> :eref {ALIAS :aliasname customers :colnames ("id" "email" "" "country")} '
    ":rtekind 0 :relid 7 :inh true :relkind r :rellockmode 1 :perminfoindex 1 :tablesample <> :lateral false "
    ":inFromCl true :securityQuals <>}"
)

ENTRY = "{{TARGETENTRY :expr {expr} :resno 1 :resname {name} :ressortgroupref {ref} :resjunk false}}"


def var(number: int, column: int) -> str:
    return (
        f"{{VAR :varno {number} :varattno {column} :vartype 25 :vartypmod -1 :varcollid 100 :varnullingrels (b 3) "
        f":varlevelsup 0 :varreturningtype 0 :varnosyn 1 :varattnosyn 2 :location 7}}"
    )


def query(
    ranges: str, expr: str, *, ref: int = 0, name: str = "x", refs: str = "{RANGETBLREF :rtindex 1}"
) -> str:
    return (
        f"(({{QUERY :commandType 1 :cteList <> :rtable ({ranges}) :jointree {{FROMEXPR :fromlist ({refs}) :quals <>}} "
        f":targetList ({ENTRY.format(expr=expr, ref=ref, name=name)}) :setOperations <> :stmt_len 0}}))"
    )


def columns_of(text: str) -> set[tuple[int, int]]:
    walk = TreeWalk({7: TABLE}, frozenset())
    (found,) = find_queries(parse_tree(text))
    walk.follow(found)
    return walk.usage.columns


def test_a_column_is_found_as_version_18_writes_it() -> None:
    assert columns_of(query(RELATION, var(1, 2))) == {(7, 2)}


@pytest.mark.parametrize("number", [9, 10])
def test_what_is_grouped_by_is_followed_whatever_its_number(number: int) -> None:
    group = f"{{RANGETBLENTRY :alias <> :eref <> :rtekind {number} :groupexprs ({var(1, 2)}) :lateral false}}"
    assert columns_of(query(f"{RELATION} {group}", var(2, 1), ref=1)) == {(7, 2)}


def test_a_whole_row_is_all_columns_that_are_there() -> None:
    assert columns_of(query(RELATION, var(1, 0))) == {(7, 1), (7, 2), (7, 4)}


@pytest.mark.parametrize(
    "entry", ["{RANGETBLENTRY :rtekind 8 :graph_pattern <> :relid 7}", "{RANGETBLENTRY :rtekind 7}"]
)
def test_an_entry_of_an_unknown_kind_is_not_passed_over(entry: str) -> None:
    with pytest.raises(UnknownTree):
        columns_of(query(f"{RELATION} {entry}", var(1, 1)))


def test_no_name_is_taken_for_a_part_of_the_tree() -> None:
    misses = Misses()
    for name in ["a\xa0:expr", ":expr", "a\r:expr\r:x", r"\{\}", r"a\ :expr\ 0", r"\<>", r"\0"]:
        with misses.of(name):
            assert columns_of(query(RELATION, var(1, 2), name=name)) == {(7, 2)}
    misses.require_none()


def test_what_is_no_tree_is_not_read() -> None:
    misses = Misses()
    for text in ["", "(", "{", "}", "({)}", "x y", "{A :b 1 :b 2}", "{A 1 2}", "())"]:
        with misses.of(text), pytest.raises(UnknownTree):
            parse_tree(text)
    misses.require_none()


def test_a_tree_may_be_as_deep_as_it_likes() -> None:
    tree = parse_tree("{A :b " * 50_000 + "1" + "}" * 50_000)
    assert isinstance(tree, Node)
    with pytest.raises(UnknownTree):
        find_queries(tree)


def constant(length: int, written: str, location: int) -> str:
    return (
        f"{{CONST :consttype 25 :consttypmod -1 :constlen -1 :constbyval false :constisnull false "
        f":location {location} :constvalue {length} [ {written} ]}}"
    )


def test_the_bytes_of_a_constant_are_left_out() -> None:
    (found,) = find_queries(parse_tree(query(RELATION, constant(5, "20 0 0 0 97", 7))))
    (entry,) = found.nodes("targetList")
    assert "consttype" in repr(entry) and " 97" not in repr(entry)


@pytest.mark.parametrize("written", ["a\\ :location\\ 1", "a\\ :constvalue\\ 1\\ [\\ 1\\ ]"])
def test_names_that_look_like_what_is_left_out_stay_in_the_tree(written: str) -> None:
    text = query(RELATION, var(1, 2), name=written)
    assert written in repr(parse_tree(text)).replace("\\\\", "\\") and columns_of(text) == {(7, 2)}
