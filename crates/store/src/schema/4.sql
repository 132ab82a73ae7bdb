-- From this version on, samples without a step are those of the load that a trial begins with. A column
-- can't become one that may be null, so the table is made again.
DROP VIEW whole_sample_value;

CREATE TABLE sample_of_any (
    id       INTEGER PRIMARY KEY,
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    step_id  INTEGER REFERENCES step (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    moment   TEXT NOT NULL CHECK (moment IN ('start', 'period', 'end')),
    at_ns    INTEGER NOT NULL,
    took_ns  INTEGER NOT NULL,
    base_id  INTEGER REFERENCES sample (id),
    UNIQUE (trial_id, step_id, position)
) STRICT;

INSERT INTO sample_of_any (id, trial_id, step_id, position, moment, at_ns, took_ns, base_id)
SELECT id, trial_id, step_id, position, moment, at_ns, took_ns, base_id FROM sample;

DROP TABLE sample;

ALTER TABLE sample_of_any RENAME TO sample;

-- Nulls are never equal.
CREATE UNIQUE INDEX sample_of_load ON sample (trial_id, position) WHERE step_id IS NULL;

CREATE VIEW whole_sample_value AS
WITH RECURSIVE origin (sample_id, from_id, steps_back) AS (
    SELECT id, id, 0 FROM sample
    UNION ALL
    SELECT origin.sample_id, sample.base_id, steps_back + 1
    FROM origin JOIN sample ON sample.id = origin.from_id
    WHERE sample.base_id IS NOT NULL
),
latest AS (
    -- Of the rows of a group, SQLite takes the value from the one with the least.
    SELECT origin.sample_id, counter_id, value, min(steps_back)
    FROM origin
        JOIN sample_value ON sample_value.sample_id = origin.from_id
        JOIN counter ON counter.id = counter_id
    WHERE steps_back = 0 OR source IN ('status', 'innodb')
    GROUP BY origin.sample_id, counter_id
)
SELECT sample_id, counter_id, value FROM latest WHERE value IS NOT NULL;
