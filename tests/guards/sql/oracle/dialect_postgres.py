"""What Postgres writes that others do not."""

from tests.guards.sql.oracle.forms import AGGREGATES, FORMS, LITERALS, corpus
from tests.guards.sql.oracle.grammar import Writer
from tests.guards.sql.oracle.relations import Column, Relation, columns
from tests.guards.sql.oracle.scopes import Scope, Source


def in_texts(templates: tuple[str, ...]) -> tuple[str, ...]:
    """Casts to `text`: a recursive query's columns may not change their length."""
    return tuple(
        template.replace("VARCHAR(9)", "text").replace("VARCHAR(20)", "text") for template in templates
    )


POSTGRES_FORMS = {
    "int": (
        *FORMS["int"],
        "{raw_text}::integer",
        "{raw_text}::smallint",
        "strpos({text}, {text})",
        "extract(year FROM {date})::integer",
        "({date} - {date})",
        "cardinality({list})",
        "num_nulls({text}, {int})",
        "greatest({int}, {int})",
        "ascii({text})",
        "hashtext({row}::text)",
        "array_position({list}, {text})",
        "width_bucket({int}, 0, 10, 3)",
    ),
    "text": (
        *in_texts(FORMS["text"]),
        "{row}::text",
        "CAST({row} AS text)",
        "row_to_json({row})::text",
        "({row}.to_jsonb)::text",
        "(to_jsonb({row}) ->> 'c')",
        "{tagged}to_jsonb({row})::text",
        "({field_text})",
        "({field_text})",
        "({list})[1]",
        "array_to_string({list}, ',')",
        "({struct}).city",
        "({json} ->> 'a')",
        "jsonb_extract_path_text({json}, 'b')",
        "{raw_text}::address_text::text",
        "{raw_text}::uuid::text",
        "{raw_text}::jsonb::text",
        "{raw_text}::date::text",
        "format('%s', {text})",
        "ROW({text}, {int})::text",
        "(ROW({text}, {text})::place).street",
        "to_char({date}, 'YYYY')",
        "concat({text}, {int})",
        "left({text}, 2)",
        "split_part({text}, 'a', 1)",
        "quote_literal({text})",
        "pg_typeof({any})::text",
        "{tagged}mail_of({int})",
        "md5({text})",
        "regexp_replace({text}, 'a', 'b')",
        "overlay({text} PLACING 'x' FROM 1)",
        "(ARRAY[{text}, {text}])[2]",
        "least({text}, {text})",
        'lower({text} COLLATE "C")',
    ),
    "date": (
        *FORMS["date"],
        "({date} + 1)",
        "{raw_text}::date",
        "make_date(2020, 1, 1)",
        "least({date}, {date})",
    ),
    "bool": (
        *FORMS["bool"],
        "({int} = ANY ({rows_int}))",
        "({int} > ALL ({rows_int}))",
        "({text} = ANY ({list}))",
        "({text} ~ 'a')",
        "({text} ILIKE 'A%')",
        "({text} SIMILAR TO '[a-z]+')",
        "({json} @> '{\"a\": 1}')",
        "({json} ? 'a')",
        "(ROW({int}, {text}) = ROW({int}, {text}))",
        "({row} IS NOT NULL)",
        "(({date}, {date}) OVERLAPS (DATE '2001-01-01', DATE '2010-01-01'))",
        "({text} > SOME (ARRAY[{text}]))",
        "starts_with({text}, {text})",
        "({list} && ARRAY[{text}])",
    ),
    "list": ("ARRAY[{text}, {text}]", "string_to_array({text}, 'a')", "array_append({list}, {text})"),
    "json": (
        "to_jsonb({text}::text)",
        "jsonb_build_object('a', {text})",
        "to_jsonb({row})",
        "({json} -> 'a')",
    ),
    "struct": ("ROW({text}, {text})::place",),
    "any": ("{int}", "{text}", "{date}", "{list}", "{json}", "{struct}"),
}

POSTGRES_AGGREGATES = {
    "int": (*AGGREGATES["int"][:-1], "percentile_disc(0.5) WITHIN GROUP (ORDER BY {int})", "count({row})"),
    "text": (
        *AGGREGATES["text"],
        "string_agg({text}, ',' ORDER BY {key})",
        "array_agg({text})::text",
        "json_agg({row})::text",
        "mode() WITHIN GROUP (ORDER BY {text})",
        "jsonb_object_agg(coalesce({text}, ''), {int})::text",
        "(array_agg({row}))[1]::text",
    ),
    "date": AGGREGATES["date"],
    "bool": (*AGGREGATES["bool"], "bool_or({bool})"),
}

SPECIALS = (
    "SELECT {scalar_text}, {scalar_int}",
    "VALUES ({scalar_text}, {scalar_int}), ('a', 1)",
    "TABLE orders",
    "{tagged}TABLE people",
    "{tagged}SELECT id.to_json FROM customers AS id",
    "{tagged}SELECT c.label FROM customers c",
    "{tagged}SELECT (SELECT c.email FROM (SELECT 1 AS c) x) FROM customers c",
    "SELECT o FROM orders o",
    "SELECT (o).total, (o).day FROM orders o",
    "SELECT (SELECT o) FROM orders o",
    "{tagged}SELECT (SELECT x) FROM c x",
    "{tagged}SELECT (x.o).owner FROM (SELECT o FROM cases o) x",
    "SELECT (x.o).total FROM (SELECT o FROM orders o) x",
    "{tagged}SELECT (x.o).email FROM (SELECT c AS o FROM customers c) x",
    "{tagged}SELECT (x.o).* FROM (SELECT c AS o FROM customers c) x",
    "SELECT (ROW(1, 'a')::place).*",
    "SELECT ctid, id FROM orders",
    "SELECT tableoid::regclass::text, id FROM events",
    "SELECT id FROM ONLY events",
    "{tagged}SELECT note FROM events_us",
    "{tagged}SELECT id FROM events WHERE note > 'm'",
    "SELECT j.id FROM customers c JOIN orders o USING (id) AS j",
    "{tagged}SELECT j.c FROM c JOIN (SELECT c FROM c) d USING (c) AS j",
    "SELECT j.w FROM (customers c JOIN orders o ON o.customer_id = c.id) AS j(w)",
    "{tagged}SELECT j.w FROM (customers c JOIN orders o ON o.customer_id = c.id) AS j(x, y, w)",
    'SELECT "EMAIL", email FROM accounts',
    '{tagged}SELECT "Email" FROM accounts',
    "{tagged}SELECT id FROM cases",
    "{tagged}SELECT count(*) FROM cases",
    "SELECT id FROM orders FETCH FIRST 2 ROWS ONLY",
    "{tagged}SELECT id FROM customers ORDER BY email USING > FETCH FIRST 2 ROWS WITH TIES",
    "SELECT t.k, t.v FROM documents d, jsonb_each(d.meta) AS t(k, v)",
    "{tagged}SELECT t.k FROM documents d, jsonb_object_keys(d.data - 0) AS t(k)",
    "SELECT t.v, t.n FROM customers, unnest(tags) WITH ORDINALITY AS t(v, n)",
    "{tagged}SELECT t.v FROM documents, unnest(parts) AS t(v)",
    "{tagged}SELECT unnest(parts) FROM documents",
    "SELECT id, unnest(labels), generate_series(1, 2) FROM documents",
    "SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['a'])) AS t(a, b)",
    "SELECT x.* FROM jsonb_to_record('{\"a\": 1}') AS x(a integer)",
    "{tagged}SELECT x.a FROM documents, jsonb_to_record(nullif(data, '[1, 2]')) AS x(a text)",
    "{tagged}SELECT (jsonb_populate_record(NULL::place, data)).city FROM documents",
    "{tagged}SELECT (place).city FROM documents",
    "{tagged}SELECT d.place.city FROM documents d",
    "{tagged}SELECT documents.*::text FROM documents",
    "{tagged}SELECT count(*) FROM (SELECT NULL::uuid AS a UNION ALL SELECT email::uuid FROM customers) x",
    "{tagged}SELECT count(e::integer) FROM kept",
    '{tagged}SELECT U&"\\0065mail" FROM customers',
    "{tagged}SELECT count(*) OVER w FROM staff WINDOW w AS (PARTITION BY salary)",
    "{tagged}SELECT id FROM c ORDER BY (SELECT c)",
    "{tagged}SELECT c FROM c",
    "{tagged}SELECT country <#> 'b' FROM customers",
    "{tagged}SELECT country OPERATOR(public.<#>) 'b' FROM customers",
    "{tagged}SELECT country::known_text FROM customers",
    "{tagged}SELECT mails(id) FROM orders WHERE id < 13",
    "{tagged}SELECT spot::mood FROM documents",
    "{tagged}SELECT mood(spot) FROM documents",
    "{tagged}SELECT d.spot.to_mood FROM documents d",
    "{tagged}SELECT (d.spot).to_mood FROM documents d",
    "{tagged}SELECT most_common_vals::text FROM pg_stats WHERE attname = 'email'",
    "{tagged}SELECT histogram_bounds::text FROM pg_stats WHERE tablename = 'staff'",
    "{tagged}SELECT query_to_xml('SELECT email FROM customers', true, false, '')::text",
    "{tagged}SELECT table_to_xml('c', true, false, '')::text",
    "{tagged}SELECT name FROM side.customers",
    "{tagged}SELECT public.customers.email FROM public.customers, side.customers AS s",
    "SELECT s.email FROM public.customers, side.customers AS s",
    "{tagged}SELECT side.customers.name FROM side.customers",
    "{tagged}SELECT country FROM veiled",
    "{tagged}SELECT m FROM veiled",
    "{tagged}SELECT jsonb_path_query(data, '$.a') FROM documents",
    "EXPLAIN (COSTS OFF) SELECT id FROM customers WHERE country = 'IT'",
    "{tagged}SELECT xpath('/e/text()', xmlelement(name e, email))::text FROM customers",
    "{tagged}SELECT pg_column_size(c.*) FROM c",
    "{tagged}SELECT c.c FROM c c",
    "SELECT email FROM c AS c(id, x, email)",
    "{tagged}SELECT email FROM c AS t(id, email)",
    "{tagged}SELECT 1 / coalesce(salary, 1) FROM staff",
    "SELECT xmlelement(name e, country)::text FROM customers",
)


class PostgresWriter(Writer):
    """Statements for Postgres. Names in other cases are other names there."""

    forms = POSTGRES_FORMS
    aggregates = POSTGRES_AGGREGATES
    ignores_case = False
    literals = LITERALS | {
        "int": ("0", "1", "2", "3", "10", "NULL::integer"),
        "text": ("'a'::text", "'IT'::text", "'17'::text", "''::text", "text 'Bob'", "'x y'::text"),
        "list": ("ARRAY['a', 'b']",),
        "json": ("'{\"a\": 1}'::jsonb",),
        "struct": ("ROW('a', 'b')::place",),
    }
    joins = ("JOIN", "JOIN", "LEFT JOIN", "INNER JOIN", "RIGHT JOIN")
    specials = (*SPECIALS, *SPECIALS, *corpus("postgres"))
    kinds = (*Writer.kinds, "list", "json", "struct")
    limits = (*Writer.limits, "FETCH FIRST 2 ROWS ONLY", "OFFSET 1")
    calls = (
        Relation("generate_series(1, 3)", columns("g:int"), is_call=True),
        Relation("unnest(ARRAY['a', 'b'])", columns("u:text"), is_call=True),
        Relation('jsonb_each_text(\'{"a": "x"}\')', columns("k:text, v:text"), is_call=True),
    )

    def distinct(self, scope: Scope) -> str:
        return f"DISTINCT ON ({self.key(scope)}) " if self.chance(40) else "DISTINCT "

    def group(self, keys: list[str]) -> str:
        ways = ("{}", "{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())")
        return self.one_of(ways).replace("{}", ", ".join(keys))

    def write_field(self, kind: str, scope: Scope, depth: int) -> str:
        """A column by the name of its row: `(c).email`."""
        place = self.row_place(kind, scope)
        return f"({self.spell(place.source.alias)}).{self.spell(place.column.name)}"

    def join(self, left: str, scope: Scope, depth: int) -> str:
        if self.chance(8):
            before = self.touched
            unnested = self.column("list", scope) or "ARRAY['a', 'b']"
            alias, name = self.alias(scope), self.fresh("u")
            scope.sources.append(Source(alias, (Column(name, "text", self.touched > before),)))
            return f"{left}, unnest({unnested}) AS {self.spell(alias)}({name})"
        if self.chance(10):
            query = self.query(scope, depth + 1)
            if self.chance(50):
                return self.aliased(query, scope, f"{left}, LATERAL ")
            return f"{self.aliased(query, scope, f'{left} LEFT JOIN LATERAL ')} ON true"
        return super().join(left, scope, depth)
