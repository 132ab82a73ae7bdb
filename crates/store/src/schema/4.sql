-- Version 4 of the result file: what carried the connections, how arrival schedules were kept, what
-- the generator's threads did, and groups of clients beside those of a step. Units and meaning of
-- every column: docs/formats/result-file.md.

-- Before there was a choice, connections were always waited for in this way.
ALTER TABLE run ADD COLUMN backend TEXT CHECK (backend IN ('epoll', 'io-uring'));
UPDATE run SET backend = 'epoll' WHERE EXISTS (SELECT 1 FROM outcome);
ALTER TABLE outcome ADD COLUMN backend TEXT NOT NULL DEFAULT 'epoll'
    CHECK (backend IN ('epoll', 'io-uring'));

ALTER TABLE interval ADD COLUMN response_ns_p99 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE interval ADD COLUMN backlog INTEGER NOT NULL DEFAULT 0;

CREATE TABLE calibration (
    id          INTEGER PRIMARY KEY,
    recorded_at TEXT NOT NULL,
    ceiling     TEXT NOT NULL
) STRICT;

-- Position 0 are the step's own clients, others are those of client_group.
CREATE TABLE schedule (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL CHECK (group_position >= 0),
    planned        INTEGER NOT NULL,
    backlog        INTEGER NOT NULL,
    left_undone    INTEGER NOT NULL,
    response_hdr   BLOB NOT NULL,
    error_hdr      BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT;

CREATE TABLE thread_use (
    trial_id     INTEGER NOT NULL,
    step_id      INTEGER NOT NULL,
    thread       INTEGER NOT NULL CHECK (thread >= 0),
    cpu_ns       INTEGER NOT NULL,
    run_queue_ns INTEGER,
    PRIMARY KEY (trial_id, step_id, thread),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE client_group (
    trial_id   INTEGER NOT NULL,
    step_id    INTEGER NOT NULL,
    position   INTEGER NOT NULL CHECK (position >= 1),
    name       TEXT NOT NULL,
    clients    INTEGER NOT NULL,
    operations INTEGER NOT NULL,
    queries    INTEGER NOT NULL,
    busy_ns    INTEGER NOT NULL,
    hdr        BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id, position),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT;

CREATE TABLE client_group_statement (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL,
    position       INTEGER NOT NULL CHECK (position >= 1),
    statement      TEXT NOT NULL,
    count          INTEGER NOT NULL,
    rows           INTEGER NOT NULL,
    affected       INTEGER NOT NULL,
    unexpected     INTEGER NOT NULL,
    hdr            BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position, position),
    FOREIGN KEY (trial_id, step_id, group_position)
        REFERENCES client_group (trial_id, step_id, position)
) STRICT;

CREATE TABLE client_group_error (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL,
    code           INTEGER NOT NULL,
    class          TEXT NOT NULL CHECK (class IN ('retryable', 'counted', 'fatal')),
    count          INTEGER NOT NULL,
    message        TEXT NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position, code),
    FOREIGN KEY (trial_id, step_id, group_position)
        REFERENCES client_group (trial_id, step_id, position)
) STRICT, WITHOUT ROWID;
