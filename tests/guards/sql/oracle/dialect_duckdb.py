"""What DuckDB writes that others do not."""

from collections.abc import Sequence

from tests.guards.sql.oracle.forms import AGGREGATES, FORMS, LITERALS, WINDOWS, corpus
from tests.guards.sql.oracle.grammar import Writer
from tests.guards.sql.oracle.relations import Column, Kind, Relation, columns
from tests.guards.sql.oracle.scopes import Query, Scope, Source

DUCKDB_FORMS = {
    "int": (
        *FORMS["int"],
        "TRY_CAST({text} AS INTEGER)",
        "{raw_text}::TINYINT",
        "len({list})",
        "strlen({text})",
        "list_position({list}, {text})",
        "year({date})",
        "({date} - {date})",
        "levenshtein({text}, {text})",
        "(hash({row}) % 7)::INTEGER",
        "if({bool}, {int}, {int})",
        "({json} ->> 'a')::INTEGER",
        "instr({text}, {text})",
        "greatest({int}, {int})",
    ),
    "text": (
        *FORMS["text"],
        "{column_text}[1:2]",
        "{row}::VARCHAR",
        "to_json({row})::VARCHAR",
        "{field_text}",
        "{field_text}",
        "{column_list}[1]",
        "{column_struct}.city",
        "{column_struct}['city']",
        "struct_extract({struct}, 'street')",
        "({json} ->> 'a')",
        "json_extract_string({json}, '$.b')",
        "shout({text})",
        "{tagged}mail_of({int})",
        "{tagged}mail_twice({int})",
        "{tagged}padded({text})",
        "{tagged}padded({text}, y := {text})",
        "country_of({int})",
        "email({text})",
        "{column_text}.upper()",
        "{column_text}.lower().trim()",
        "concat({text}, {int})",
        "array_to_string({list}, ',')",
        "list_aggregate({list}, 'max')",
        "list_transform({list}, lambda q: q || {column_text})[1]",
        "[x || {column_text} for x in {list}]::VARCHAR",
        "[{text}, {text}][2]",
        "{'a': {text}, 'b': {int}}.a",
        "row({text}, {int})::VARCHAR",
        "map([{int}], [{text}])::VARCHAR",
        "strftime({date}, '%Y')",
        "typeof({any})",
        "CAST({raw_text} AS UUID)::VARCHAR",
        "CAST({raw_text} AS JSON)::VARCHAR",
        "TRY({raw_text}::INTEGER)::VARCHAR",
        "format('{}-{}', {text}, {int})",
        "regexp_extract({text}, '[a-z]+')",
        "ifnull({text}, {text})",
    ),
    "date": (
        *FORMS["date"],
        "TRY_CAST({text} AS DATE)",
        "({date} + 1)",
        "{raw_text}::DATE",
        "make_date(2020, 1, 1)",
    ),
    "bool": (
        *FORMS["bool"],
        "({int} = ANY ({rows_int}))",
        "({int} > ALL ({rows_int}))",
        "list_contains({list}, {text})",
        "({text} ILIKE 'A%')",
        "regexp_matches({text}, 'a')",
        "({text} SIMILAR TO '[a-z]+')",
        "({text} IN {list})",
        "(({int}, {text}) = ({int}, {text}))",
        "({row} IS NULL)",
        "({row} = {row})",
    ),
    "list": (
        "[{text}, {text}]",
        "string_split({text}, 'a')",
        "list_filter({list}, lambda q: q <> {column_text})",
    ),
    "json": ("to_json({text})", "json_object('a', {text})", "to_json({row})", "({json} -> 'a')"),
    "struct": ("{'city': {text}, 'street': {text}}", "struct_pack(city := {text}, street := {text})"),
    "any": ("{int}", "{text}", "{date}", "{list}", "{json}", "{struct}"),
}

DUCKDB_AGGREGATES = {
    "int": (
        *AGGREGATES["int"],
        "count_if({bool})",
        "arg_max({int}, {text})",
        "approx_count_distinct({text})::INTEGER",
    ),
    "text": (
        *AGGREGATES["text"],
        "string_agg({text}, ',' ORDER BY {key})",
        "first({text} ORDER BY {key})",
        "arg_min({text}, {int})",
        "list({text} ORDER BY {key})::VARCHAR",
        "mode({text})",
        "list({row})::VARCHAR",
        "histogram({text})::VARCHAR",
    ),
    "date": AGGREGATES["date"],
    "bool": (*AGGREGATES["bool"], "bool_or({bool})"),
}

SPECIALS = (
    "FROM {from} SELECT {star}",
    "FROM {from} SELECT {any}, {text}",
    "FROM {from} SELECT {int} AS a, a + 1 AS b WHERE b > {int}",
    "FROM {from} SELECT {aggregate_text} GROUP BY ALL",
    "FROM {from} SELECT {key} QUALIFY row_number() OVER ({window}) < 3",
    "FROM {from} SELECT {row}",
    "FROM {from} SELECT unnest({row})",
    "SELECT {scalar_text}, {scalar_int}",
    "VALUES ({scalar_text}, {scalar_int}), ('a', 1)",
    "SELECT COLUMNS(['id', 'name']) FROM customers",
    "SELECT COLUMNS(lambda q: q LIKE 'c%') FROM people",
    "SELECT COLUMNS(* EXCLUDE (email, born)) FROM customers",
    "SELECT upper(COLUMNS('(na|coun).*')) FROM customers",
    "{tagged}SELECT COLUMNS('e.*l') FROM customers",
    "{tagged}SELECT max(COLUMNS(*)) FROM staff",
    "{tagged}SELECT COLUMNS(* REPLACE (lower(email) AS name)) FROM people",
    "{tagged}SELECT * EXCLUDE (email, born) FROM (SELECT *, email FROM customers) x",
    "{tagged}SELECT * EXCLUDE (email) FROM (SELECT id, email, email FROM customers) x",
    "{tagged}SELECT id FROM (SELECT * RENAME (email AS country, country AS x) FROM customers ORDER BY country LIMIT 1)",
    "{tagged}SELECT email_1 FROM (SELECT c.email, o.email FROM c AS o, customers AS c)",
    "{tagged}SELECT count(*) FROM (SELECT NULL::UUID AS a UNION ALL SELECT email FROM customers)",
    "{tagged}SELECT count(*) FROM (SELECT DATE '2020-01-01' AS a UNION ALL SELECT email FROM customers)",
    "{tagged}SELECT decode('\\xff'::BLOB, (SELECT #3 FROM customers OFFSET 3 LIMIT 1))",
    "{tagged}SELECT #3 FROM customers",
    "SELECT #1, #4 FROM customers",
    "{tagged}SELECT id FROM customers ORDER BY #3",
    "{tagged}SELECT 1 FROM customers GROUP BY #5",
    "PIVOT orders ON status USING sum(total) GROUP BY customer_id",
    "PIVOT (SELECT country, id FROM customers) ON country USING count(*)",
    "{tagged}PIVOT customers ON email USING count(*) GROUP BY country",
    "{tagged}SELECT * FROM (PIVOT customers ON country IN ('IT', 'DE') USING max(email) GROUP BY id)",
    "{tagged}SELECT country FROM (PIVOT c ON c USING max(id) GROUP BY email) AS p(country)",
    "UNPIVOT orders ON total, customer_id INTO NAME n VALUE v",
    "{tagged}UNPIVOT (SELECT id, email, name FROM customers) ON email, name",
    "{tagged}SELECT id, n FROM (UNPIVOT (SELECT id, c FROM c) ON c INTO NAME n VALUE v)",
    "SUMMARIZE orders",
    "{tagged}SUMMARIZE staff",
    "{tagged}SELECT column_name, min FROM (SUMMARIZE c)",
    "DESCRIBE customers",
    "DESCRIBE SELECT email FROM customers",
    "TABLE orders",
    "{tagged}TABLE people",
    "SELECT rowid, id FROM customers ORDER BY rowid",
    "SELECT u.id FROM (SELECT unnest(list(o)) AS u FROM orders o)",
    "{tagged}SELECT u.c FROM (SELECT unnest(list(o)) AS u FROM c o)",
    "{tagged}SELECT y.email FROM (SELECT c AS y FROM customers c)",
    "{tagged}SELECT y.country FROM (SELECT c AS y FROM customers c)",
    "{tagged}SELECT (SELECT c.email FROM (SELECT 1 AS c) x) FROM customers c",
    "{tagged}SELECT email.c FROM (SELECT c AS email FROM c AS c, customers) AS x",
    "{tagged}FROM query('SELECT email FROM customers')",
    "{tagged}FROM query_table('customers')",
    "{tagged}FROM pragma_storage_info('customers')",
    "{tagged}CALL pragma_storage_info('c')",
    "{tagged}PRAGMA storage_info('staff')",
    "{tagged}SELECT stats(email) FROM customers",
    "{tagged}SHOW SELECT * FROM (PIVOT customers ON email USING count(*))",
    "{tagged}DESCRIBE FROM (PIVOT c ON c USING count(*))",
    "EXPLAIN SELECT id FROM customers WHERE country = 'IT'",
    "{tagged}EXPLAIN SELECT id FROM customers WHERE email > 'zz'",
    "{tagged}SELECT id FROM customers WHERE rowid IN (SELECT rowid FROM customers ORDER BY email LIMIT 2)",
    "{tagged}SELECT pin FROM other.secrets",
    "{tagged}SELECT secrets.pin FROM other.main.secrets",
    "SELECT memory.main.customers.id FROM memory.main.customers",
    "{tagged}SELECT main.customers.email FROM main.customers, side.customers AS s",
    "SELECT s.email FROM main.customers, side.customers AS s",
    "{tagged}SELECT side.customers.name FROM side.customers",
    "SELECT e: {int}, f: {text}",
    "SELECT id, day FROM orders ORDER BY ALL DESC",
    "SELECT id FROM orders UNION ALL BY NAME SELECT id, country FROM customers",
    "{tagged}SELECT id FROM orders UNION BY NAME SELECT id, email FROM customers",
    "{tagged}SELECT id FROM (SELECT id, total FROM orders UNION ALL BY NAME SELECT id, email AS total FROM customers)",
    "{tagged}SELECT c FROM c ORDER BY ALL LIMIT 1",
    "{tagged}SELECT first(id ORDER BY c) FROM c",
    "{tagged}SELECT j.value FROM documents d, json_each(d.data) AS j",
    "SELECT j.key FROM documents d, json_each(d.meta) AS j",
    "{tagged}SELECT unnest(parts) FROM documents",
    "{tagged}SELECT id, unnest(place) FROM documents",
    "SELECT unnest(spot, recursive := true) FROM documents",
    "{tagged}SELECT 'x' AS z\u2060UNION\u2060ALL\u2060SELECT\u2060email\u2060FROM\u2060customers",
)


class DuckDBWriter(Writer):
    """Statements for DuckDB."""

    forms = DUCKDB_FORMS
    aggregates = DUCKDB_AGGREGATES
    windows = WINDOWS | {"text": (*WINDOWS["text"], "first_value({text} ORDER BY {key}) OVER ()")}
    literals = LITERALS | {
        "list": ("['a', 'b']",),
        "json": ("'{\"a\": 1}'::JSON",),
        "struct": ("{'city': 'a', 'street': 'b'}",),
    }
    joins = (*Writer.joins, "SEMI JOIN", "ANTI JOIN", "ASOF JOIN", "POSITIONAL JOIN")
    specials = (*SPECIALS, *SPECIALS, *corpus("duckdb"))
    blanks = (*Writer.blanks, *Writer.blanks, "\u00a0", "\u2003", "\u2060")
    kinds = (*Writer.kinds, "list", "json", "struct")
    calls = (
        Relation("range(3)", columns("r:int"), is_call=True),
        Relation("generate_series(1, 3)", columns("g:int"), is_call=True),
        Relation("unnest(['a', 'b'])", columns("u:text"), is_call=True),
    )

    def frame(self, items: str, source: tuple[str, str], ending: str) -> str:
        if self.chance(6):
            return f"FROM {source[0]} SELECT {items}{source[1]}{ending}"
        return super().frame(items, source, ending)

    def distinct(self, scope: Scope) -> str:
        return f"DISTINCT ON ({self.key(scope)}) " if self.chance(40) else "DISTINCT "

    def group(self, keys: list[str]) -> str:
        ways = ("{}", "{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())")
        return self.one_of(ways).replace("{}", ", ".join(keys))

    def write_field(self, kind: str, scope: Scope, depth: int) -> str:
        """A column by the name of its row: `c['email']`."""
        place = self.row_place(kind, scope)
        alias = self.spell(place.source.alias)
        if self.chance(50):
            return f"{alias}['{place.column.name}']"
        return f"struct_extract({alias}, '{place.column.name}')"

    def star(self, scope: Scope, depth: int) -> Query | None:
        """A star with modifiers, which can take the tagged columns out or put others in their places."""
        columns = scope.star()
        names = [column.name.lower() for column in columns]
        if len(set(names)) < len(names) or self.chance(40):
            return super().star(scope, depth)
        modify = self.one_of((self.excluded, self.replaced, self.renaming))
        return self.allowed_star(modify(columns, scope, depth), depth)

    def excluded(self, columns: list[Column], scope: Scope, depth: int) -> Query:
        gone = [column for column in columns if column.is_tagged] or [self.one_of(columns)]
        left = [column for column in columns if column not in gone]
        if not left:
            return Query("*", columns)
        text = f"* EXCLUDE ({', '.join(self.spell(column.name) for column in gone)})"
        return Query(f"COLUMNS({text})" if self.chance(20) else text, left)

    def replaced(self, columns: list[Column], scope: Scope, depth: int) -> Query:
        gone = [column for column in columns if column.is_tagged] or [self.one_of(columns)]
        items: list[str] = []
        fresh: dict[str, Column] = {}
        for column in gone:
            text, is_tagged = self.value(column.kind, scope, depth + 2)
            items.append(f"{text} AS {self.spell(column.name)}")
            fresh[column.name] = Column(column.name, column.kind, is_tagged)
        return Query(
            f"* REPLACE ({', '.join(items)})", [fresh.get(column.name, column) for column in columns]
        )

    def renaming(self, columns: list[Column], scope: Scope, depth: int) -> Query:
        one, name = self.one_of(columns), self.fresh("r")
        renamed = [
            Column(name, column.kind, column.is_tagged) if column is one else column for column in columns
        ]
        return Query(f"* RENAME ({self.spell(one.name)} AS {name})", renamed)

    def join(self, left: str, scope: Scope, depth: int) -> str:
        if self.chance(8):
            before = self.touched
            unnested = self.column("list", scope) or "['a', 'b']"
            alias, name = self.alias(scope), self.fresh("u")
            scope.sources.append(Source(alias, (Column(name, "text", self.touched > before),)))
            return f"{left}, unnest({unnested}) AS {self.spell(alias)}({name})"
        if self.chance(8):
            query = self.query(scope, depth + 1)
            return self.aliased(query, scope, f"{left}, {self.one_of(('', 'LATERAL '))}")
        return super().join(left, scope, depth)

    def join_on(self, left: str, word: str, right: str, scope: Scope, depth: int) -> str:
        if word == "POSITIONAL JOIN":
            return f"{left} {word} {right}"
        if word == "ASOF JOIN":
            one, other = (
                self.place("int", Scope(None, side)) for side in (scope.sources[:-1], scope.sources[-1:])
            )
            if one is None or other is None:
                return f"{left}, {right}"
            names = (
                f"{self.spell(side.source.alias)}.{self.spell(side.column.name)}" for side in (one, other)
            )
            return f"{left} {word} {right} ON {' >= '.join(names)}"
        text = super().join_on(left, word, right, scope, depth)
        if word in ("SEMI JOIN", "ANTI JOIN"):
            scope.sources.pop()
        return text

    def set_operation(self, parent: Scope | None, depth: int, kinds: Sequence[Kind] | None) -> Query:
        if kinds or self.chance(80):
            return super().set_operation(parent, depth, kinds)
        left, right = (self.select(parent, depth + 1, self.some_kinds(), is_part=True) for _ in range(2))
        merged: dict[str, Column] = {}
        for column in (*left.columns, *right.columns):
            other = merged.get(column.name)
            merged[column.name] = Column(
                column.name, column.kind, column.is_tagged or bool(other and other.is_tagged)
            )
        word = self.one_of(("UNION ALL BY NAME", "UNION BY NAME"))
        return Query(f"{left.text} {word} {right.text}", list(merged.values()))

    def set_word(self) -> str:
        return self.one_of(
            (super().set_word(), super().set_word(), "UNION ALL", "EXCEPT ALL", "INTERSECT ALL")
        )
