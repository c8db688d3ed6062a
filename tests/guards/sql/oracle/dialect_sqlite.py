"""What SQLite writes that others do not."""

from tests.guards.sql.oracle.forms import AGGREGATES, FORMS, LITERALS, corpus
from tests.guards.sql.oracle.grammar import Writer
from tests.guards.sql.oracle.relations import Column, Relation, columns
from tests.guards.sql.oracle.scopes import Query, Scope, Source

SQLITE_FORMS = {
    "int": (
        *FORMS["int"],
        "CAST({text} AS INTEGER)",
        "instr({text}, {text})",
        "unicode({text})",
        "json_array_length({list})",
        "iif({bool}, {int}, {int})",
        "({text} < {text})",
        "max({int}, {int})",
        "abs({column_int} - 9223372036854775807)",
    ),
    "text": (
        *FORMS["text"],
        "json_extract({json}, '$.a')",
        "({json} ->> '$.a')",
        "json_extract({list}, '$[0]')",
        "json_extract({struct}, '$.city')",
        "json({raw_text})",
        "printf('%s-%d', {text}, {int})",
        "iif({bool}, {text}, {text})",
        "ifnull({text}, {text})",
        "hex({text})",
        "quote({any})",
        "typeof({any})",
        "json_object('a', {text})",
        "json_array({any}, {int})",
        "({text} COLLATE NOCASE)",
        "min({text}, {text})",
        "strftime('%Y', {date})",
        "format('%s', {text})",
    ),
    "date": (*FORMS["date"][:2], "{scalar_date}", "date({date}, '+1 day')", "date({text})"),
    "bool": (
        *FORMS["bool"],
        "({text} GLOB 'a*')",
        "({text} IS {text})",
        "({text} IS NOT {text})",
        "({bool} IS TRUE)",
        "json_valid({text})",
        "({text} IN (VALUES ('a'), ({text})))",
        "({int} NOTNULL)",
        "likely({bool})",
    ),
    "list": ("json_array({text})",),
    "json": ("json_object('a', {text})", "({json} -> '$.a')"),
    "struct": ("json_object('city', {text}, 'street', {text})",),
    "any": ("{int}", "{text}", "{date}", "{json}"),
}

SQLITE_AGGREGATES = {
    "int": (*AGGREGATES["int"], "sum({int})", "json_array_length(json_group_array({text}))"),
    "text": (
        *AGGREGATES["text"],
        "group_concat({text})",
        "group_concat({text}, {text})",
        "json_group_array({any})",
        "json_group_object({text}, {int})",
    ),
    "date": AGGREGATES["date"],
    "bool": AGGREGATES["bool"],
}

SPECIALS = (
    "SELECT {scalar_text}, {scalar_int}",
    "VALUES ({scalar_text}, {scalar_int}), ('a', 1)",
    "SELECT rowid, id, oid, _rowid_ FROM orders",
    "SELECT customers.rowid, country FROM customers",
    "{tagged}SELECT max(id), email FROM customers",
    "SELECT max(id), country FROM customers",
    "{tagged}SELECT id, max(born) FROM customers GROUP BY country",
    "{tagged}SELECT country FROM customers GROUP BY country HAVING email > 'b'",
    "{tagged}SELECT (SELECT c.email FROM (SELECT 1 AS c) x) FROM customers c",
    "{tagged}SELECT $x('), email FROM customers --')",
    "SELECT $x, id FROM customers WHERE id > ifnull(:y, 1)",
    "SELECT j.value FROM customers, json_each(customers.tags) AS j",
    "{tagged}SELECT j.value FROM documents AS d, json_each(d.parts) AS j",
    "{tagged}SELECT count(*) FROM documents AS d JOIN json_each(d.parts)",
    "SELECT j.key, j.value FROM documents d, json_tree(d.meta) AS j",
    "SELECT name FROM pragma_table_info('customers')",
    "SELECT name FROM sqlite_master WHERE type = 'table'",
    "{tagged}SELECT 'customers'.'email' FROM 'customers'",
    "SELECT 'customers'.'country' FROM 'customers'",
    "{tagged}SELECT x FROM (SELECT email 'x' FROM customers)",
    'SELECT "nowhere", id FROM customers',
    "{tagged}SELECT a.id FROM customers a JOIN c b USING ('email') ORDER BY b.c",
    "{tagged}SELECT c.id FROM customers NATURAL JOIN c",
    '{tagged}SELECT "email:1" FROM (SELECT a.email, b.email FROM c a, customers b)',
    "{tagged}SELECT count(*) FROM customers NOT INDEXED WHERE email > 'b'",
    "SELECT id FROM customers INDEXED BY by_place WHERE country = 'IT'",
    "{tagged}SELECT country FROM customers INDEXED BY by_email WHERE email > 'b'",
    "{tagged}SELECT id FROM staff WHERE salary IS NOT NULL ORDER BY +salary",
    "{tagged}SELECT short FROM badges",
    "{tagged}SELECT id FROM badges ORDER BY short",
    "SELECT loud FROM badges",
    "{tagged}SELECT sender FROM letters",
    "{tagged}SELECT body FROM letters",
    "{tagged}SELECT sender FROM letters WHERE letters MATCH 'dear'",
    "{tagged}SELECT sender FROM letters('ada')",
    "{tagged}SELECT sender FROM letters WHERE letters = 'ada' ORDER BY rank",
    "{tagged}SELECT c0 FROM letters_content",
    "{tagged}SELECT hex(block) FROM letters_data",
    "{tagged}SELECT hex(sz) FROM letters_docsize",
    "{tagged}SELECT term FROM letters_idx",
    "{tagged}SELECT snippet(letters, 0, '<', '>', '', 9) FROM letters('dear')",
    "{tagged}SELECT stat FROM sqlite_stat1",
    "{tagged}SELECT name, payload FROM dbstat",
    "{tagged}EXPLAIN QUERY PLAN SELECT id FROM customers WHERE email > 'b'",
    "{tagged}SELECT 1 WHERE 'x' IN (SELECT c FROM c)",
    "{tagged}SELECT min(pin), id FROM codes",
    "SELECT id, codes FROM codes ORDER BY codes.codes LIMIT 2",
    "SELECT count(*), total(total) FROM orders WHERE +status = 'paid'",
    "{tagged}SELECT DISTINCT id FROM codes ORDER BY pin",
    "{tagged}SELECT sum(id) OVER (ORDER BY c ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM c",
    "{tagged}SELECT row_number() OVER w, id FROM staff WINDOW w AS (ORDER BY salary)",
    "SELECT row_number() OVER w, id FROM staff WINDOW w AS (PARTITION BY customer_id ORDER BY id)",
)


class SQLiteWriter(Writer):
    """Statements for SQLite. Derived tables take no list of columns there."""

    forms = SQLITE_FORMS
    aggregates = SQLITE_AGGREGATES
    literals = LITERALS | {
        "date": ("'2001-02-03'", "'2026-01-02'"),
        "list": ("'[\"a\"]'",),
        "json": ("'{\"a\": 1}'",),
        "struct": ('\'{"city": "x"}\'',),
    }
    specials = (*SPECIALS, *SPECIALS, *corpus("sqlite"))
    kinds = (*Writer.kinds, "json")
    calls = (
        Relation("(SELECT value, key FROM json_each('[1, 2]'))", columns("value:int, key:int"), is_call=True),
    )

    def spell(self, name: str) -> str:
        if self.chance(4):
            return self.one_of((f"[{name}]", f"`{name}`", f'"{name.upper()}"'))
        return super().spell(name)

    def entered(self, relation: Relation, scope: Scope) -> str:
        if not relation.is_call:
            return super().entered(relation, scope)
        alias = self.alias(scope)
        scope.sources.append(Source(alias, relation.columns))
        return f"{relation.name} AS {self.spell(alias)}"

    def aliased(self, query: Query, scope: Scope, word: str = "") -> str:
        alias = self.alias(scope)
        fresh, listed = self.renamed(query.columns, 20)
        scope.sources.append(Source(alias, fresh))
        text = f"WITH w{listed} AS ({query.text}) SELECT * FROM w" if listed else query.text
        return f"{word}({text}) AS {self.spell(alias)}"

    def values(self, scope: Scope) -> str:
        alias, first, second = self.alias(scope), self.fresh("y"), self.fresh("y")
        scope.sources.append(Source(alias, (Column(first, "int"), Column(second, "text"))))
        return f"(SELECT 1 AS {first}, 'a' AS {second} UNION ALL VALUES (2, NULL), (3, 'IT')) AS {self.spell(alias)}"

    def join(self, left: str, scope: Scope, depth: int) -> str:
        if not self.chance(7):
            return super().join(left, scope, depth)
        before = self.touched
        listed = self.column(self.one_of(("list", "struct")), scope) or "'[1, 2]'"
        alias = self.fresh("j")
        fields = [Column(name, "text", self.touched > before) for name in ("key", "value", "type")]
        scope.sources.append(Source(alias, fields))
        return f"{left}{self.one_of((', ', ' JOIN '))}{self.one_of(('json_each', 'json_tree'))}({listed}) AS {alias}"
