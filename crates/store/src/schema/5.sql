-- Version 5 of the result file: trials that count, and samples of counters in place of readings.
-- Units and meaning of every column: docs/formats/result-file.md.

-- A trial is now planned as block, target and kind, so that its constraints change: SQLite wants
-- the table made anew for that. Foreign keys are not enforced meanwhile.
CREATE TABLE trial_with_kind (
    id        INTEGER PRIMARY KEY,
    block     INTEGER NOT NULL,
    target_id INTEGER NOT NULL REFERENCES target (id),
    kind      TEXT NOT NULL CHECK (kind IN ('timed', 'counting')),
    attempt   INTEGER NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'discarded')),
    began_at  TEXT NOT NULL,
    ended_at  TEXT,
    reason    TEXT,
    log_tail  TEXT,
    UNIQUE (block, target_id, kind, attempt)
) STRICT;
INSERT INTO trial_with_kind
    (id, block, target_id, kind, attempt, state, began_at, ended_at, reason, log_tail)
SELECT id, block, target_id, 'timed', attempt, state, began_at, ended_at, reason, log_tail
FROM trial;
DROP TABLE trial;
ALTER TABLE trial_with_kind RENAME TO trial;

-- At most one attempt counts: a second running, done or failed one is impossible.
CREATE UNIQUE INDEX trial_counts_once ON trial (block, target_id, kind) WHERE state <> 'discarded';

CREATE TABLE counting_operations (
    step_id    INTEGER PRIMARY KEY REFERENCES step (id),
    operations INTEGER NOT NULL CHECK (operations >= 1)
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

-- What readings were, they are as samples: those of one instant become one.
CREATE VIEW reading_as_counter AS
SELECT trial_id, step_id, at_ns, name, value,
    CASE WHEN source = 'host' THEN 'host'
         WHEN name IN ('resident_bytes', 'threads') THEN 'memory'
         ELSE 'process' END AS source
FROM reading WHERE source IN ('server', 'host') AND value >= 0;

INSERT INTO counter (source, name)
SELECT DISTINCT source, name FROM reading_as_counter ORDER BY source, name;

INSERT INTO sample (trial_id, step_id, position, moment, at_ns, took_ns)
SELECT trial_id, step_id, place - 1,
    CASE place WHEN 1 THEN 'start' WHEN places THEN 'end' ELSE 'period' END, at_ns, 0
FROM (SELECT trial_id, step_id, at_ns,
          row_number() OVER (PARTITION BY trial_id, step_id ORDER BY at_ns) AS place,
          count(*) OVER (PARTITION BY trial_id, step_id) AS places
      FROM (SELECT DISTINCT trial_id, step_id, at_ns FROM reading_as_counter))
ORDER BY trial_id, step_id, place;

INSERT INTO sample_value (sample_id, counter_id, value)
SELECT sample.id, counter.id, value
FROM reading_as_counter AS reading
    JOIN sample USING (trial_id, step_id, at_ns)
    JOIN counter USING (source, name);

DROP VIEW reading_as_counter;
DROP TABLE reading;
