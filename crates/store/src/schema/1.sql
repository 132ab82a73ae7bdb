-- Version 1 of the result file. Units and meaning of every column: docs/formats/result-file.md.

CREATE TABLE run (
    id                INTEGER PRIMARY KEY CHECK (id = 1),
    run_id            TEXT NOT NULL,
    name              TEXT NOT NULL,
    prony_version     TEXT NOT NULL,
    started_at        TEXT NOT NULL,
    ended_at          TEXT,
    plan              TEXT NOT NULL,
    backend           TEXT CHECK (backend IN ('epoll', 'io-uring')),
    default_placement TEXT
) STRICT;

CREATE TABLE host (
    id          INTEGER PRIMARY KEY,
    recorded_at TEXT NOT NULL,
    facts       TEXT NOT NULL,
    findings    TEXT
) STRICT;

CREATE TABLE calibration (
    id          INTEGER PRIMARY KEY,
    recorded_at TEXT NOT NULL,
    ceiling     TEXT NOT NULL
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
    warmup_ms          INTEGER NOT NULL,
    measure_ms         INTEGER,
    measure_operations INTEGER,
    phase              TEXT CHECK (phase IN ('read-before', 'write', 'read-after', 'end')),
    warm_only          INTEGER NOT NULL CHECK (warm_only IN (0, 1)),
    UNIQUE (name, clients),
    CHECK ((measure_ms IS NULL) <> (measure_operations IS NULL))
) STRICT;

-- Position 0 is the step's own clients; others run beside them.
CREATE TABLE client_group (
    step_id        INTEGER NOT NULL REFERENCES step (id),
    position       INTEGER NOT NULL CHECK (position >= 0),
    name           TEXT CHECK ((name IS NULL) = (position = 0)),
    clients        INTEGER NOT NULL,
    workload       TEXT NOT NULL,
    workload_group TEXT NOT NULL,
    parameters     TEXT NOT NULL,
    PRIMARY KEY (step_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE cell (
    target_id   INTEGER NOT NULL REFERENCES target (id),
    step_id     INTEGER NOT NULL REFERENCES step (id),
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (target_id, step_id)
) STRICT, WITHOUT ROWID;

-- Later versions may know kinds of trial that this one does not.
CREATE TABLE trial (
    id        INTEGER PRIMARY KEY,
    block     INTEGER NOT NULL,
    target_id INTEGER NOT NULL REFERENCES target (id),
    kind      TEXT NOT NULL,
    attempt   INTEGER NOT NULL,
    host_id   INTEGER NOT NULL REFERENCES host (id),
    state     TEXT NOT NULL CHECK (
                  state IN ('running', 'done', 'failed', 'discarded', 'excluded')
              ),
    began_at  TEXT NOT NULL,
    ended_at  TEXT,
    reason    TEXT,
    log_tail  TEXT,
    UNIQUE (block, target_id, kind, attempt)
) STRICT;

-- At most one attempt counts: a second running, done or failed one is impossible.
CREATE UNIQUE INDEX trial_counts_once ON trial (block, target_id, kind)
    WHERE state NOT IN ('discarded', 'excluded');

-- Times of a fixed computation around a trial, while no server of Prony runs.
CREATE TABLE canary (
    trial_id        INTEGER NOT NULL REFERENCES trial (id),
    moment          TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    processor_ns    INTEGER NOT NULL,
    memory_ns       INTEGER NOT NULL,
    system_calls_ns INTEGER NOT NULL,
    wake_up_ns      INTEGER,
    PRIMARY KEY (trial_id, moment)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE rendered_option (
    target_id INTEGER NOT NULL REFERENCES target (id),
    position  INTEGER NOT NULL CHECK (position >= 0),
    name      TEXT NOT NULL,
    value     TEXT,
    origin    TEXT NOT NULL CHECK (origin IN ('baseline', 'intent', 'raw')),
    intent    TEXT,
    why       TEXT NOT NULL,
    PRIMARY KEY (target_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_text (
    target_id INTEGER NOT NULL REFERENCES target (id),
    entry     INTEGER NOT NULL,
    statement TEXT NOT NULL,
    answer    TEXT NOT NULL,
    PRIMARY KEY (target_id, entry, statement)
) STRICT, WITHOUT ROWID;

-- What all groups of clients of a step have in common.
CREATE TABLE outcome (
    trial_id         INTEGER NOT NULL REFERENCES trial (id),
    step_id          INTEGER NOT NULL REFERENCES step (id),
    threads          INTEGER NOT NULL,
    client_user_ns   INTEGER NOT NULL,
    client_system_ns INTEGER NOT NULL,
    start_ns         INTEGER NOT NULL,
    end_ns           INTEGER NOT NULL,
    timing           TEXT NOT NULL CHECK (timing IN ('operations', 'whole-run')),
    backend          TEXT NOT NULL CHECK (backend IN ('epoll', 'io-uring')),
    scheduling       TEXT NOT NULL CHECK (scheduling IN ('normal', 'batch', 'other')),
    PRIMARY KEY (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_outcome (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL,
    clients        INTEGER NOT NULL,
    operations     INTEGER NOT NULL,
    queries        INTEGER NOT NULL,
    busy_ns        INTEGER NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id),
    FOREIGN KEY (step_id, group_position) REFERENCES client_group (step_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE statement_count (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL,
    position       INTEGER NOT NULL CHECK (position >= 1),
    statement      TEXT NOT NULL,
    count          INTEGER NOT NULL,
    rows           INTEGER NOT NULL,
    affected       INTEGER NOT NULL,
    unexpected     INTEGER NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position, position),
    FOREIGN KEY (trial_id, step_id, group_position)
        REFERENCES group_outcome (trial_id, step_id, group_position)
) STRICT, WITHOUT ROWID;

-- Position 0 is the whole operation; others are those of statement_count.
CREATE TABLE histogram (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL,
    position       INTEGER NOT NULL CHECK (position >= 0),
    hdr            BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position, position),
    FOREIGN KEY (trial_id, step_id, group_position)
        REFERENCES group_outcome (trial_id, step_id, group_position)
) STRICT;

CREATE TABLE error_count (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL,
    code           TEXT NOT NULL,
    class          TEXT NOT NULL CHECK (class IN ('retryable', 'counted', 'fatal')),
    count          INTEGER NOT NULL,
    message        TEXT NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position, code),
    FOREIGN KEY (trial_id, step_id, group_position)
        REFERENCES group_outcome (trial_id, step_id, group_position)
) STRICT, WITHOUT ROWID;

CREATE TABLE schedule (
    trial_id       INTEGER NOT NULL,
    step_id        INTEGER NOT NULL,
    group_position INTEGER NOT NULL,
    planned        INTEGER NOT NULL,
    backlog        INTEGER NOT NULL,
    left_undone    INTEGER NOT NULL,
    response_hdr   BLOB NOT NULL,
    error_hdr      BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id, group_position),
    FOREIGN KEY (trial_id, step_id, group_position)
        REFERENCES group_outcome (trial_id, step_id, group_position)
) STRICT;

CREATE TABLE interval (
    trial_id        INTEGER NOT NULL,
    step_id         INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    start_ns        INTEGER NOT NULL,
    end_ns          INTEGER NOT NULL,
    operations      INTEGER NOT NULL,
    queries         INTEGER NOT NULL,
    errors          INTEGER NOT NULL,
    latency_ns_p99  INTEGER NOT NULL,
    latency_ns_max  INTEGER NOT NULL,
    response_ns_p99 INTEGER NOT NULL,
    backlog         INTEGER NOT NULL,
    PRIMARY KEY (trial_id, step_id, position),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_use (
    trial_id     INTEGER NOT NULL,
    step_id      INTEGER NOT NULL,
    thread       INTEGER NOT NULL CHECK (thread >= 0),
    wall_ns      INTEGER NOT NULL,
    cpu_ns       INTEGER NOT NULL,
    run_queue_ns INTEGER,
    PRIMARY KEY (trial_id, step_id, thread),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE placement (
    trial_id   INTEGER NOT NULL REFERENCES trial (id),
    step_id    INTEGER NOT NULL REFERENCES step (id),
    rule       TEXT NOT NULL CHECK (rule IN ('together', 'apart', 'free', 'sets')),
    sessions   TEXT,
    background TEXT,
    generator  TEXT,
    PRIMARY KEY (trial_id, step_id)
) STRICT, WITHOUT ROWID;

-- Threads of a role that may use the same processors.
CREATE TABLE placed_threads (
    trial_id INTEGER NOT NULL,
    step_id  INTEGER NOT NULL,
    role     TEXT NOT NULL CHECK (role IN ('sessions', 'background', 'generator')),
    cpus     TEXT NOT NULL,
    threads  INTEGER NOT NULL CHECK (threads >= 1),
    PRIMARY KEY (trial_id, step_id, role, cpus),
    FOREIGN KEY (trial_id, step_id) REFERENCES placement (trial_id, step_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE counting_operations (
    step_id    INTEGER PRIMARY KEY REFERENCES step (id),
    operations INTEGER NOT NULL CHECK (operations >= 1)
) STRICT;

-- Of trials with an external server.
CREATE TABLE scheduling_group (
    trial_id  INTEGER PRIMARY KEY REFERENCES trial (id),
    server    TEXT,
    reason    TEXT,
    generator TEXT NOT NULL,
    CHECK ((server IS NULL) = (reason IS NOT NULL))
) STRICT;

-- Hundreds of counters are read thousands of times: a value names its counter by number.
CREATE TABLE counter (
    id     INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    name   TEXT NOT NULL,
    UNIQUE (source, name)
) STRICT;

CREATE TABLE sample (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    step_id  INTEGER NOT NULL REFERENCES step (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    moment   TEXT NOT NULL CHECK (moment IN ('start', 'period', 'end')),
    at_ns    INTEGER NOT NULL,
    took_ns  INTEGER NOT NULL,
    base_id  INTEGER REFERENCES sample (id),
    UNIQUE (trial_id, step_id, position)
) STRICT;

CREATE TABLE sample_value (
    sample_id  INTEGER NOT NULL REFERENCES sample (id),
    counter_id INTEGER NOT NULL REFERENCES counter (id),
    value      INTEGER,
    PRIMARY KEY (sample_id, counter_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sample_gap (
    sample_id INTEGER NOT NULL REFERENCES sample (id),
    position  INTEGER NOT NULL CHECK (position >= 0),
    source    TEXT NOT NULL,
    reason    TEXT NOT NULL,
    PRIMARY KEY (sample_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE absence (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER REFERENCES trial (id),
    source   TEXT NOT NULL,
    reason   TEXT NOT NULL
) STRICT;

-- A run that is resumed lacks what it lacked before.
CREATE UNIQUE INDEX absence_once ON absence (coalesce(trial_id, 0), source, reason);

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

-- A file beside the result file; its path is relative to the run's folder.
CREATE TABLE artefact (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    step_id  INTEGER REFERENCES step (id),
    kind     TEXT NOT NULL,
    path     TEXT NOT NULL UNIQUE,
    bytes    INTEGER NOT NULL
) STRICT;

-- About the run, a trial, a step of a trial, or one group of clients of such a step.
CREATE TABLE warning (
    id             INTEGER PRIMARY KEY,
    trial_id       INTEGER REFERENCES trial (id),
    step_id        INTEGER REFERENCES step (id),
    group_position INTEGER,
    code           TEXT NOT NULL,
    text           TEXT NOT NULL,
    FOREIGN KEY (step_id, group_position) REFERENCES client_group (step_id, position),
    CHECK (step_id IS NULL OR trial_id IS NOT NULL),
    CHECK (group_position IS NULL OR step_id IS NOT NULL)
) STRICT;
