-- A ledger file: runs, their records and parts, shared blobs, notes and scores.
-- Everything is appended, nothing is changed: the triggers below say so to every tool.

CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    name TEXT NOT NULL,
    key TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) = 64)
) STRICT;

-- seq counts from 0 without a gap; prev and leaf follow from the order and are not kept.
-- One integer key, always growing, lets SQLite fill its pages.
CREATE TABLE records (
    place INTEGER PRIMARY KEY CHECK (place >= 2147483648),
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    sig BLOB,
    run INTEGER GENERATED ALWAYS AS (place >> 31) VIRTUAL,
    seq INTEGER GENERATED ALWAYS AS (place & 2147483647) VIRTUAL
) STRICT;

CREATE TABLE parts (
    part INTEGER PRIMARY KEY,
    place INTEGER NOT NULL REFERENCES records,
    field TEXT NOT NULL,
    salt BLOB NOT NULL CHECK (length(salt) = 16),
    text TEXT NOT NULL,
    UNIQUE (place, field)
) STRICT;

-- A blob's lines are those of a bundle, in order; many runs may name one blob.
CREATE TABLE blobs (
    blob INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,
    line INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (digest, line)
) STRICT;

CREATE TABLE notes (
    note INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    text TEXT NOT NULL
) STRICT;

CREATE INDEX notes_of_run ON notes (run);

CREATE TABLE receipts (
    receipt INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    scorer TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE INDEX receipts_of_run ON receipts (run);

-- What a person reads with any SQLite tool.
CREATE VIEW messages AS
SELECT runs.id AS run, seq, body ->> '$.from' AS sender, body ->> '$.to' AS recipient,
       body ->> '$.action.kind' AS kind, body -> '$.action' AS action
FROM records JOIN runs USING (run) WHERE kind = 'message';

CREATE VIEW decisions AS
SELECT runs.id AS run, seq, body ->> '$.message' AS message, body ->> '$.outcome' AS outcome,
       body ->> '$.rule' AS rule, body -> '$.detail' AS detail, body -> '$.events' AS events
FROM records JOIN runs USING (run) WHERE kind = 'decision';

CREATE VIEW scores AS
SELECT runs.id AS run, scorer, text FROM receipts JOIN runs USING (run);
