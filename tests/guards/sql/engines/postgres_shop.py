"""The shop on Postgres with everything that can hide a column: views, policies, generated columns, types, functions."""

from tests.guards.sql.shop import script

EXTRA = """
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN word AS text CHECK (length(VALUE) < 90);
CREATE FUNCTION most_seen() RETURNS text LANGUAGE sql STABLE AS 'SELECT max(email) FROM customers';
CREATE FUNCTION reveal(customers) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1.email';
CREATE FUNCTION secret_lookup(integer) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
    AS 'SELECT email FROM customers WHERE id = $1';
CREATE FUNCTION listed() RETURNS SETOF customers LANGUAGE sql STABLE AS 'SELECT * FROM customers';
CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE sql STABLE
    AS 'SELECT $1 || (SELECT max(email) FROM customers)';
CREATE FUNCTION is_seen(text) RETURNS boolean LANGUAGE plpgsql STABLE AS
    $$ BEGIN RETURN EXISTS (SELECT FROM customers WHERE email = $1); END $$;
CREATE OPERATOR ||| (LEFTARG = text, RIGHTARG = text, FUNCTION = joined);
CREATE AGGREGATE glued(text) (SFUNC = joined, STYPE = text, INITCOND = '');
CREATE DOMAIN known_address AS text CHECK (is_seen(VALUE));
CREATE TYPE pair AS (a known_address, b integer);
CREATE TABLE lengths (id integer PRIMARY KEY, email text, size integer GENERATED ALWAYS AS (length(email)) STORED);
INSERT INTO lengths (id, email) SELECT id, email FROM customers;
CREATE TABLE guarded (id integer PRIMARY KEY, email text, note text);
INSERT INTO guarded SELECT id, email, 'x' FROM customers;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
ALTER TABLE guarded FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON guarded USING (email LIKE 'a%');
CREATE TABLE visits (day date, guest text) PARTITION BY RANGE (day);
CREATE TABLE visits_2026 PARTITION OF visits FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
INSERT INTO visits SELECT '2026-02-03', email FROM customers;
CREATE TABLE born (id integer, email text) PARTITION BY RANGE (email);
CREATE TABLE born_early PARTITION OF born FOR VALUES FROM (MINVALUE) TO ('m');
CREATE TABLE born_late PARTITION OF born FOR VALUES FROM ('m') TO (MAXVALUE);
INSERT INTO born SELECT id, email FROM customers;
CREATE MATERIALIZED VIEW kept AS SELECT id, lower(email) AS small FROM customers;
CREATE VIEW hidden AS SELECT id, country FROM customers WHERE length(email) > 3;
CREATE VIEW ordered AS SELECT id, country FROM customers ORDER BY email;
CREATE VIEW first_one AS SELECT id FROM customers ORDER BY email LIMIT 1;
CREATE VIEW doubled AS SELECT id, country FROM people UNION ALL SELECT id, email FROM customers;
CREATE VIEW failing AS SELECT id, 1 / (length(email) - 15) AS inverse FROM customers;
CREATE VIEW called AS SELECT id, secret_lookup(id) AS email FROM customers;
CREATE VIEW reached AS WITH c AS (SELECT id, email AS x FROM customers)
    SELECT c.id, c.x, o.total FROM c JOIN orders o USING (id);
CREATE VIEW rows_of AS SELECT c AS whole, c.id FROM customers c;
CREATE VIEW settled AS SELECT id FROM orders WHERE status <> coalesce(current_setting('shop.status', true), '');
CREATE VIEW chancy AS SELECT random() AS r;
CREATE SEQUENCE counter;
CREATE TABLE noted (id integer PRIMARY KEY, what text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.what := (SELECT max(email) FROM customers); RETURN NEW; END $$;
CREATE TRIGGER noting BEFORE INSERT ON noted FOR EACH ROW EXECUTE FUNCTION note();
CREATE TABLE ruled (id integer);
CREATE RULE told AS ON INSERT TO ruled DO ALSO SELECT email FROM customers;
CREATE TABLE letters (id integer PRIMARY KEY, customer integer REFERENCES customers ON DELETE CASCADE, mood mood);
CREATE TABLE "odd.ly" (id integer, email text);
CREATE TABLE defaulted (id integer, email text DEFAULT most_seen());
CREATE TABLE numbered (id serial, what text);
CREATE TYPE tone AS ENUM ('low', 'high');
CREATE FUNCTION tone_text(tone) RETURNS text LANGUAGE sql STABLE AS 'SELECT max(email) FROM customers';
CREATE FUNCTION tone_json(tone) RETURNS json LANGUAGE sql STABLE AS 'SELECT to_json(max(email)) FROM customers';
CREATE CAST (tone AS text) WITH FUNCTION tone_text(tone);
CREATE CAST (tone AS json) WITH FUNCTION tone_json(tone);
CREATE TABLE toned (id integer, tone tone, tones tone[]);
INSERT INTO toned VALUES (1, 'low', '{low}');
CREATE VIEW told_tone AS SELECT id, to_json(tone) AS told FROM toned;
CREATE TYPE spot AS (x text, y integer);
CREATE FUNCTION spot_order(spot, spot) RETURNS integer LANGUAGE sql IMMUTABLE
    AS 'SELECT length(max(email)) - 15 FROM customers';
CREATE OPERATOR CLASS spot_ops DEFAULT FOR TYPE spot USING btree AS FUNCTION 1 spot_order(spot, spot);
CREATE TABLE spotted (id integer, spot spot);
"""


def script_with_extras() -> list[str]:
    """What makes the shop and its hiding places."""
    return [*script("postgres"), EXTRA]
