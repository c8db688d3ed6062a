-- The verbs that take more than one statement, each in one round trip. Expiry goes by the caller's clock (a_now), and
-- life and death of runners by the server's. `a_again`: the connection was lost as the caller asked the same before.
-- In plpgsql, which keeps its plans for as long as the connection lasts; a function in SQL is planned at each call.

-- One channel per schema. The listeners know a topic by its kind and the digest of its key.
CREATE FUNCTION ring(a_kind text, a_key bytea) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(current_schema(), a_kind || encode(sha256(a_key), 'hex'));
END $$;

-- A server that has just started gives every runner a lease to be heard of again. In SQL: it is put in where it is used.
CREATE FUNCTION is_dead(a_token text, a_alive_until timestamptz, a_lease interval) RETURNS boolean
LANGUAGE sql AS $$
    SELECT a_token = '' OR clock_timestamp() >= greatest(a_alive_until, pg_postmaster_start_time() + a_lease);
$$;

-- The name of this memory: of these very tables, in the place that the caller was told when it connected.
CREATE FUNCTION epoch(a_place text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN left(encode(sha256(convert_to(a_place || ' ' || tableoid || ' ' || id, 'UTF8')), 'hex'), 20) FROM memory;
END $$;

CREATE FUNCTION claim(
    a_key bytea, a_turn integer, a_digest bytea, a_until double precision, a_takeover boolean,
    a_token text, a_now double precision, a_lease interval, a_epoch text, a_place text,
    OUT verdict text, OUT value bytea, OUT seconds double precision, OUT epoch text
) LANGUAGE plpgsql AS $$
DECLARE
    kept claims;
    is_locked boolean := false;
    is_gone boolean;
    is_over boolean;
BEGIN
    epoch := epoch(a_place);
    IF a_epoch <> '' AND a_epoch IS DISTINCT FROM epoch THEN
        verdict := 'forgotten';
        RETURN;
    END IF;
    -- Looks before it locks, so that copies and waiters write nothing.
    LOOP
        IF is_locked THEN
            SELECT * INTO kept FROM claims c WHERE c.key = a_key FOR UPDATE;
        ELSE
            SELECT * INTO kept FROM claims c WHERE c.key = a_key;
        END IF;
        IF NOT FOUND THEN
            INSERT INTO claims (key, look_at, until, run_turn, run_digest, token, lease, alive_until)
            VALUES (a_key, a_until, a_until, a_turn, a_digest, a_token, a_lease, clock_timestamp() + a_lease)
            ON CONFLICT DO NOTHING;
            IF FOUND THEN
                verdict := 'mine';
                value := '';
                RETURN;
            END IF;
            is_locked := true;
            CONTINUE;
        END IF;

        IF kept.token = a_token THEN
            verdict := 'mine';
            value := kept.noted;
            RETURN;
        END IF;
        is_gone := kept.token IS NOT NULL AND is_dead(kept.token, kept.alive_until, kept.lease);
        is_over := kept.until <= a_now AND (kept.token IS NULL OR is_gone);
        IF NOT is_over AND a_turn <= coalesce(kept.run_turn, kept.turn) THEN
            IF a_turn <> coalesce(kept.run_turn, kept.turn)
                OR a_digest <> coalesce(kept.run_digest, kept.digest)
                OR (kept.token IS NULL AND kept.result IS NULL)
            THEN
                verdict := 'refused';
                RETURN;
            ELSIF kept.token IS NULL THEN
                verdict := 'done';
                value := kept.result;
                RETURN;
            ELSIF is_gone AND NOT a_takeover THEN
                verdict := 'lost';
                RETURN;
            ELSIF NOT is_gone AND (is_locked OR kept.is_awaited) THEN
                IF NOT kept.is_awaited THEN
                    UPDATE claims c SET is_awaited = true WHERE c.key = a_key;
                END IF;
                verdict := 'waits';
                seconds := extract(epoch FROM
                    greatest(kept.alive_until, pg_postmaster_start_time() + kept.lease) - clock_timestamp());
                RETURN;
            END IF;
        END IF;
        EXIT WHEN is_locked;
        is_locked := true;
    END LOOP;

    IF is_over THEN
        kept.turn := -1;
        kept.digest := '';
        kept.result := NULL;
        kept.recorded_by := NULL;
        kept.noted := '';
        kept.look_at := a_until;
    ELSIF kept.run_turn < a_turn THEN
        -- Overtaken while it was being run: it is spent, and will have no result.
        kept.turn := kept.run_turn;
        kept.digest := kept.run_digest;
        kept.result := NULL;
        kept.recorded_by := NULL;
        kept.noted := '';
    END IF;
    UPDATE claims c SET
        look_at = kept.look_at, until = greatest(kept.until, a_until),
        turn = kept.turn, digest = kept.digest, result = kept.result, recorded_by = kept.recorded_by,
        run_turn = a_turn, run_digest = a_digest, token = a_token,
        lease = a_lease, alive_until = clock_timestamp() + a_lease, noted = kept.noted, is_awaited = false
    WHERE c.key = a_key;
    IF kept.is_awaited THEN
        PERFORM ring('run ', a_key);
    END IF;
    verdict := 'mine';
    value := kept.noted;
END $$;

-- Those who wait for it have a minute to see it, even if it took longer than it lasts.
CREATE FUNCTION record(a_key bytea, a_token text, a_result bytea, a_again boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    was_awaited boolean;
BEGIN
    UPDATE claims SET
        turn = run_turn, digest = run_digest, result = a_result, recorded_by = a_token,
        run_turn = NULL, run_digest = NULL, token = NULL, lease = NULL, alive_until = NULL, noted = '',
        look_at = CASE WHEN is_awaited THEN greatest(look_at, extract(epoch FROM clock_timestamp()) + 60) ELSE look_at END
    WHERE key = a_key AND token = a_token
    RETURNING is_awaited INTO was_awaited;
    IF NOT FOUND THEN
        RETURN a_again AND EXISTS (
            SELECT FROM claims WHERE key = a_key AND recorded_by = a_token AND result = a_result);
    END IF;
    IF was_awaited THEN
        PERFORM ring('run ', a_key);
    END IF;
    RETURN true;
END $$;

-- The first that fits: nothing was recorded before; something was; there is a note, so its runner counts as dead.
CREATE FUNCTION release(a_key bytea, a_token text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    was_awaited boolean;
BEGIN
    DELETE FROM claims WHERE key = a_key AND token = a_token AND noted = '' AND turn = -1
    RETURNING is_awaited INTO was_awaited;
    IF NOT FOUND THEN
        UPDATE claims SET run_turn = NULL, run_digest = NULL, token = NULL, lease = NULL, alive_until = NULL
        WHERE key = a_key AND token = a_token AND noted = ''
        RETURNING is_awaited INTO was_awaited;
    END IF;
    IF NOT FOUND THEN
        UPDATE claims SET token = '' WHERE key = a_key AND token = a_token
        RETURNING is_awaited INTO was_awaited;
    END IF;
    IF was_awaited THEN
        PERFORM ring('run ', a_key);
    END IF;
END $$;

CREATE FUNCTION settle(a_key bytea, a_value bytea, a_until double precision, a_now double precision) RETURNS bytea
LANGUAGE plpgsql AS $$
DECLARE
    stands bytea;
BEGIN
    LOOP
        SELECT s.value INTO stands FROM settled s WHERE s.key = a_key AND s.until > a_now;
        IF FOUND THEN
            RETURN stands;
        END IF;
        INSERT INTO settled AS s (key, value, until) VALUES (a_key, a_value, a_until)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until WHERE s.until <= a_now;
        IF FOUND THEN
            PERFORM ring('end ', a_key);
            RETURN a_value;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION spend(a_key bytea, a_until double precision, a_token text, a_now double precision) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO spent AS s (key, until, spent_by) VALUES (a_key, a_until, a_token)
    ON CONFLICT (key) DO UPDATE SET until = excluded.until, spent_by = excluded.spent_by WHERE s.until <= a_now;
    RETURN FOUND OR EXISTS (SELECT FROM spent WHERE key = a_key AND spent_by = a_token);
END $$;

-- A batch that was written and whose answer was lost is found near the end.
CREATE FUNCTION append(a_lines bytea[], a_batch text, a_again boolean) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
    found_at bigint;
BEGIN
    UPDATE ledger_end SET number = number + cardinality(a_lines) RETURNING number INTO last;
    IF a_again THEN
        SELECT max(number) INTO found_at FROM ledger
        WHERE number > last - cardinality(a_lines) - 10000 AND batch = a_batch;
        IF found_at IS NOT NULL THEN
            UPDATE ledger_end SET number = number - cardinality(a_lines);
            RETURN found_at;
        END IF;
    END IF;
    INSERT INTO ledger (number, line, batch)
    SELECT last - cardinality(a_lines) + n, line, a_batch FROM unnest(a_lines) WITH ORDINALITY AS lines (line, n);
    RETURN last;
END $$;

-- At most so many rows of each table that have expired; what is being run by somebody alive has not.
CREATE FUNCTION forget(a_now double precision, a_most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    total integer := 0;
    gone integer;
BEGIN
    UPDATE claims SET look_at = until WHERE key IN (
        SELECT key FROM claims WHERE look_at <= a_now AND until > a_now LIMIT a_most FOR UPDATE SKIP LOCKED);
    DELETE FROM claims WHERE key IN (
        SELECT key FROM claims WHERE look_at <= a_now AND until <= a_now
            AND (token IS NULL OR is_dead(token, alive_until, lease))
        LIMIT a_most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS gone = ROW_COUNT;
    total := total + gone;
    DELETE FROM settled WHERE key IN (
        SELECT key FROM settled WHERE until <= a_now LIMIT a_most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS gone = ROW_COUNT;
    total := total + gone;
    DELETE FROM spent WHERE key IN (
        SELECT key FROM spent WHERE until <= a_now LIMIT a_most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS gone = ROW_COUNT;
    total := total + gone;
    DELETE FROM vault WHERE (owner, name) IN (
        SELECT owner, name FROM vault WHERE until <= a_now LIMIT a_most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN total + gone;
END $$;
