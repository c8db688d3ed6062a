"""Recursive queries: while one is read its columns are marks, and afterwards each mark is solved."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from askback.guards.sql.place import Place
from askback.guards.sql.relations import NOTHING, Output, Relation, Sources


def mentions(query: exp.Expr, name: str, place: Place) -> bool:
    """Whether a query names this table anywhere inside."""
    tables = (table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    return any(not table.args.get("db") and place.name(table.this) == name for table in tables)


def solved(relation: Relation, marks: Sequence[str], read: Iterable[str]) -> tuple[Relation, Sources]:
    """The relation, and what was read, with stored columns in the place of marks."""
    meanings = meanings_of(relation, marks)
    outputs = tuple(Output(output.name, replaced(output.sources, meanings)) for output in relation.outputs)
    whole = replace(relation, outputs=outputs, rest=replaced(relation.rest, meanings))
    return whole, replaced(read, meanings)


def meanings_of(relation: Relation, marks: Sequence[str]) -> dict[str, Sources]:
    if relation.has_no_order or len(relation.outputs) != len(marks):
        return dict.fromkeys(marks, relation.everything.difference(marks))
    direct = {mark: output.sources for mark, output in zip(marks, relation.outputs, strict=True)}
    return {mark: closure(mark, direct) for mark in marks}


def closure(mark: str, direct: dict[str, Sources]) -> Sources:
    """What a column shows in the end, through all the columns it is made of in the rounds before."""
    seen, todo, found = {mark}, [mark], set[str]()
    while todo:
        for source in direct[todo.pop()]:
            if source not in direct:
                found.add(source)
            elif source not in seen:
                seen.add(source)
                todo.append(source)
    return frozenset(found)


def replaced(sources: Iterable[str], meanings: dict[str, Sources]) -> Sources:
    return NOTHING.union(*(meanings.get(source, frozenset({source})) for source in sources))
