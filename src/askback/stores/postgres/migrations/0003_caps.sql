-- Rows of kinds that are capped. `placed` tells which is older, and `capped` what they weigh together: for each holder,
-- and in all where the holder is empty; before the names of holders stands an h.
ALTER TABLE vault ADD COLUMN kind bytea, ADD COLUMN holder bytea, ADD COLUMN weight bigint, ADD COLUMN placed bigint;
CREATE SEQUENCE vault_placed;
CREATE INDEX vault_kind ON vault (kind, placed) WHERE kind IS NOT NULL;
CREATE INDEX vault_holder ON vault (kind, holder, placed) WHERE kind IS NOT NULL;
CREATE TABLE capped (
    kind bytea NOT NULL, holder bytea NOT NULL, weight bigint NOT NULL, PRIMARY KEY (kind, holder)
) WITH (fillfactor = 50);

-- Whoever changes weights locks those of a kind in all first, and of several kinds in their order: so nobody waits in a
-- circle. Rows are locked before weights. It finds the tables of its own schema, whoever deletes.
CREATE FUNCTION lighten() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM gone WHERE kind IS NOT NULL) THEN
        RETURN NULL;
    END IF;
    PERFORM FROM capped c WHERE c.holder = '' AND c.kind IN (SELECT kind FROM gone)
    ORDER BY c.kind FOR UPDATE;
    UPDATE capped c SET weight = c.weight - lost.weight
    FROM (
        SELECT kind, ''::bytea AS holder, sum(weight) AS weight FROM gone WHERE kind IS NOT NULL GROUP BY kind
        UNION ALL
        SELECT kind, 'h'::bytea || holder, sum(weight) FROM gone WHERE kind IS NOT NULL GROUP BY kind, holder
    ) lost
    WHERE c.kind = lost.kind AND c.holder = lost.holder;
    DELETE FROM capped c WHERE c.weight <= 0 AND c.kind IN (SELECT kind FROM gone);
    RETURN NULL;
END $$;

CREATE TRIGGER vault_lighten AFTER DELETE ON vault REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION lighten();

-- Drops the oldest rows but this one until the rest weighs no more. Rows that somebody else is at are left to them.
CREATE FUNCTION drop_oldest(a_kind bytea, a_holder bytea, a_owner bytea, a_name bytea, a_most bigint) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    dropped integer := 0;
    weighs bigint;
BEGIN
    LOOP
        SELECT weight INTO weighs FROM capped
        WHERE kind = a_kind AND holder = CASE WHEN a_holder IS NULL THEN ''::bytea ELSE 'h'::bytea || a_holder END;
        EXIT WHEN weighs <= a_most;
        DELETE FROM vault WHERE (owner, name) IN (
            SELECT owner, name FROM vault
            WHERE kind = a_kind AND (a_holder IS NULL OR holder = a_holder) AND (owner, name) <> (a_owner, a_name)
            ORDER BY placed LIMIT 1 FOR UPDATE SKIP LOCKED);
        EXIT WHEN NOT FOUND;
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

CREATE FUNCTION put_capped(
    a_owner bytea, a_name bytea, a_value bytea, a_until double precision, a_token text, a_now double precision,
    a_kind bytea, a_holder bytea, a_weight bigint, a_max_of_holder bigint, a_max_in_all bigint
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    former vault;
    more bigint := a_weight;
BEGIN
    -- One at a time for this row, which may not be there yet to be locked.
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || encode(a_owner || a_name, 'hex'), 0));
    SELECT * INTO former FROM vault WHERE owner = a_owner AND name = a_name FOR UPDATE;
    IF FOUND THEN
        IF (former.kind, former.holder) IS DISTINCT FROM (a_kind, a_holder) THEN
            DELETE FROM vault WHERE owner = a_owner AND name = a_name;
        ELSE
            more := a_weight - former.weight;
        END IF;
    END IF;
    INSERT INTO vault AS v (owner, name, value, until, put_by, kind, holder, weight, placed)
    VALUES (a_owner, a_name, a_value, a_until, a_token, a_kind, a_holder, a_weight, nextval('vault_placed'))
    ON CONFLICT (owner, name) DO UPDATE SET
        value = excluded.value, until = excluded.until, put_by = excluded.put_by, weight = excluded.weight;
    -- What has expired of other kinds is left to them: two that locked each other's weights would wait in a circle.
    DELETE FROM vault WHERE (owner, name) IN (
        SELECT owner, name FROM vault
        WHERE until <= a_now AND (kind IS NULL OR kind = a_kind) AND (owner, name) <> (a_owner, a_name)
        LIMIT 64 FOR UPDATE SKIP LOCKED);
    INSERT INTO capped AS c (kind, holder, weight) VALUES (a_kind, '', more)
    ON CONFLICT (kind, holder) DO UPDATE SET weight = c.weight + excluded.weight;
    INSERT INTO capped AS c (kind, holder, weight) VALUES (a_kind, 'h'::bytea || a_holder, more)
    ON CONFLICT (kind, holder) DO UPDATE SET weight = c.weight + excluded.weight;
    RETURN drop_oldest(a_kind, a_holder, a_owner, a_name, a_max_of_holder)
        + drop_oldest(a_kind, NULL, a_owner, a_name, a_max_in_all);
END $$;
