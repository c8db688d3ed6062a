-- One row at a time. Within a DELETE, a plan that runs `IN (SELECT ... LIMIT 1 FOR UPDATE SKIP LOCKED)` once for each row
-- of the table finds another row each time and drops them all.
CREATE OR REPLACE FUNCTION drop_oldest(a_kind bytea, a_holder bytea, a_owner bytea, a_name bytea, a_most bigint)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    dropped integer := 0;
    weighs bigint;
    oldest record;
BEGIN
    LOOP
        SELECT weight INTO weighs FROM capped
        WHERE kind = a_kind AND holder = CASE WHEN a_holder IS NULL THEN ''::bytea ELSE 'h'::bytea || a_holder END;
        EXIT WHEN weighs <= a_most;
        SELECT owner, name INTO oldest FROM vault
        WHERE kind = a_kind AND (a_holder IS NULL OR holder = a_holder) AND (owner, name) <> (a_owner, a_name)
        ORDER BY placed LIMIT 1 FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        DELETE FROM vault WHERE owner = oldest.owner AND name = oldest.name;
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
