-- What is kept. Keys, owners and names are bytes (UTF-8): any text fits, and they sort alike in every database.

-- The name of this memory: whoever makes the tables anew gets another.
CREATE TABLE memory (id text NOT NULL);
INSERT INTO memory VALUES (replace(gen_random_uuid()::text, '-', ''));

-- What was recorded last (turn -1: nothing yet), and beside it what is being run (token NULL: nothing): a release leaves
-- the former as it was. An empty token is of a runner that gave up and left a note: it counts as dead.
-- A row is looked at again no later than at `look_at`, which is left alone when `until` is put off: so a turn of a known
-- key touches no index.
CREATE TABLE claims (
    key bytea PRIMARY KEY,
    look_at double precision NOT NULL,
    until double precision NOT NULL,
    turn integer NOT NULL DEFAULT -1,
    digest bytea NOT NULL DEFAULT '',
    result bytea,
    recorded_by text,
    run_turn integer,
    run_digest bytea,
    token text,
    lease interval,
    alive_until timestamptz,
    noted bytea NOT NULL DEFAULT '',
    is_awaited boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);

CREATE TABLE settled (key bytea PRIMARY KEY, until double precision NOT NULL, value bytea NOT NULL);

CREATE TABLE spent (key bytea PRIMARY KEY, until double precision NOT NULL, spent_by text NOT NULL);

CREATE TABLE vault (
    owner bytea NOT NULL,
    name bytea NOT NULL,
    until double precision,
    value bytea NOT NULL,
    put_by text NOT NULL,
    PRIMARY KEY (owner, name)
);

-- Numbers come from one row that stays locked until they are written: no gap, and nobody reads 7 before 6.
CREATE TABLE ledger (number bigint PRIMARY KEY, line bytea NOT NULL, batch text NOT NULL);
CREATE TABLE ledger_end (number bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO ledger_end VALUES (0);

CREATE INDEX claims_look_at ON claims (look_at);
CREATE INDEX settled_until ON settled (until);
CREATE INDEX spent_until ON spent (until);
CREATE INDEX vault_until ON vault (until) WHERE until IS NOT NULL;
