-- Version 1 of the result file. Units and meaning of every column: docs/formats/result-file.md.

CREATE TABLE run (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    run_id        TEXT NOT NULL,
    name          TEXT NOT NULL,
    prony_version TEXT NOT NULL,
    started_at    TEXT NOT NULL,
    ended_at      TEXT,
    plan          TEXT NOT NULL
) STRICT;

CREATE TABLE host (
    id          INTEGER PRIMARY KEY,
    recorded_at TEXT NOT NULL,
    facts       TEXT NOT NULL
) STRICT;

CREATE TABLE target (
    id             INTEGER PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE,
    is_base        INTEGER NOT NULL CHECK (is_base IN (0, 1)),
    build          TEXT NOT NULL,
    engine         TEXT NOT NULL,
    protocol       TEXT NOT NULL,
    config         TEXT NOT NULL,
    server_version TEXT,
    build_hash     TEXT,
    build_facts    TEXT
) STRICT;

CREATE TABLE step (
    id                 INTEGER PRIMARY KEY,
    name               TEXT NOT NULL,
    clients            INTEGER NOT NULL,
    entry              INTEGER NOT NULL,
    workload           TEXT NOT NULL,
    workload_group     TEXT NOT NULL,
    parameters         TEXT NOT NULL,
    warmup_ms          INTEGER NOT NULL,
    measure_ms         INTEGER,
    measure_operations INTEGER,
    UNIQUE (name, clients),
    CHECK ((measure_ms IS NULL) <> (measure_operations IS NULL))
) STRICT;

CREATE TABLE trial (
    id        INTEGER PRIMARY KEY,
    block     INTEGER NOT NULL,
    target_id INTEGER NOT NULL REFERENCES target (id),
    attempt   INTEGER NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'discarded')),
    began_at  TEXT NOT NULL,
    ended_at  TEXT,
    reason    TEXT,
    log_tail  TEXT,
    UNIQUE (block, target_id, attempt)
) STRICT;

-- At most one attempt counts: a second running, done or failed one is impossible.
CREATE UNIQUE INDEX trial_counts_once ON trial (block, target_id) WHERE state <> 'discarded';

CREATE TABLE server_variable (
    id    INTEGER PRIMARY KEY,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (name, value)
) STRICT;

-- Most variables are equal in all trials, so that a trial only names the pairs it saw.
CREATE TABLE trial_variable (
    trial_id    INTEGER NOT NULL REFERENCES trial (id),
    variable_id INTEGER NOT NULL REFERENCES server_variable (id),
    PRIMARY KEY (trial_id, variable_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE outcome (
    trial_id         INTEGER NOT NULL REFERENCES trial (id),
    step_id          INTEGER NOT NULL REFERENCES step (id),
    clients          INTEGER NOT NULL,
    threads          INTEGER NOT NULL,
    operations       INTEGER NOT NULL,
    queries          INTEGER NOT NULL,
    busy_ns          INTEGER NOT NULL,
    client_user_ns   INTEGER NOT NULL,
    client_system_ns INTEGER NOT NULL,
    start_ns         INTEGER NOT NULL,
    end_ns           INTEGER NOT NULL,
    PRIMARY KEY (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE operation_count (
    trial_id   INTEGER NOT NULL,
    step_id    INTEGER NOT NULL,
    position   INTEGER NOT NULL CHECK (position >= 1),
    statement  TEXT NOT NULL,
    count      INTEGER NOT NULL,
    rows       INTEGER NOT NULL,
    affected   INTEGER NOT NULL,
    unexpected INTEGER NOT NULL,
    PRIMARY KEY (trial_id, step_id, position),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT, WITHOUT ROWID;

-- Position 0 is the whole operation; others are those of operation_count.
CREATE TABLE histogram (
    trial_id INTEGER NOT NULL,
    step_id  INTEGER NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    hdr      BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id, position),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT;

CREATE TABLE error_count (
    trial_id INTEGER NOT NULL,
    step_id  INTEGER NOT NULL,
    code     INTEGER NOT NULL,
    class    TEXT NOT NULL CHECK (class IN ('retryable', 'counted', 'fatal')),
    count    INTEGER NOT NULL,
    message  TEXT NOT NULL,
    PRIMARY KEY (trial_id, step_id, code),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE interval (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    position       INTEGER NOT NULL,
    start_ns       INTEGER NOT NULL,
    end_ns         INTEGER NOT NULL,
    operations     INTEGER NOT NULL,
    queries        INTEGER NOT NULL,
    errors         INTEGER NOT NULL,
    latency_ns_p99 INTEGER NOT NULL,
    latency_ns_max INTEGER NOT NULL,
    PRIMARY KEY (trial_id, step_id, position),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE reading (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    step_id  INTEGER NOT NULL REFERENCES step (id),
    source   TEXT NOT NULL,
    at_ns    INTEGER NOT NULL,
    name     TEXT NOT NULL,
    value    INTEGER NOT NULL
) STRICT;

CREATE INDEX reading_of_step ON reading (trial_id, step_id);

CREATE TABLE warning (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER REFERENCES trial (id),
    step_id  INTEGER REFERENCES step (id),
    code     TEXT NOT NULL,
    text     TEXT NOT NULL
) STRICT;
