-- Version 3 of the result file: how data was loaded, how engines were brought to a quiet state, and
-- what they still had to do before each step. Units and meaning of every column:
-- docs/formats/result-file.md.

ALTER TABLE step ADD COLUMN phase TEXT
    CHECK (phase IN ('read-before', 'write', 'read-after', 'end'));
ALTER TABLE step ADD COLUMN warm_only INTEGER NOT NULL DEFAULT 0 CHECK (warm_only IN (0, 1));

ALTER TABLE outcome ADD COLUMN timing TEXT NOT NULL DEFAULT 'operations'
    CHECK (timing IN ('operations', 'whole-run'));

-- A load belongs to an image, or to a trial that had none.
CREATE TABLE load (
    id               INTEGER PRIMARY KEY,
    target_id        INTEGER NOT NULL REFERENCES target (id),
    trial_id         INTEGER REFERENCES trial (id),
    image            TEXT,
    reused           INTEGER NOT NULL CHECK (reused IN (0, 1)),
    rows             INTEGER,
    rows_ns          INTEGER,
    index_ns         INTEGER,
    method           TEXT,
    settle_took_ms   INTEGER,
    settle_waited_ms INTEGER,
    settle_unmet     TEXT,
    settle_debt      TEXT,
    settle_levels    TEXT,
    CHECK ((trial_id IS NULL) <> (image IS NULL))
) STRICT;

CREATE TABLE settle (
    trial_id  INTEGER NOT NULL REFERENCES trial (id),
    step_id   INTEGER NOT NULL REFERENCES step (id),
    took_ms   INTEGER NOT NULL,
    waited_ms INTEGER NOT NULL,
    unmet     TEXT NOT NULL,
    debt      TEXT NOT NULL,
    levels    TEXT NOT NULL,
    PRIMARY KEY (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE debt (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    step_id  INTEGER NOT NULL REFERENCES step (id),
    kind     TEXT NOT NULL,
    value    INTEGER NOT NULL CHECK (value >= 0),
    PRIMARY KEY (trial_id, step_id, kind)
) STRICT, WITHOUT ROWID;
