-- From this version on, groups beside the step's own clients have intervals too. The key grows, so the
-- table is made again.
CREATE TABLE interval_of_group (
    trial_id        INTEGER NOT NULL,
    step_id         INTEGER NOT NULL,
    group_position  INTEGER NOT NULL,
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
    PRIMARY KEY (trial_id, step_id, group_position, position),
    FOREIGN KEY (trial_id, step_id, group_position)
        REFERENCES group_outcome (trial_id, step_id, group_position)
) STRICT, WITHOUT ROWID;

INSERT INTO interval_of_group (
    trial_id, step_id, group_position, position, start_ns, end_ns, operations, queries, errors,
    latency_ns_p99, latency_ns_max, response_ns_p99, backlog
)
SELECT trial_id, step_id, 0, position, start_ns, end_ns, operations, queries, errors,
    latency_ns_p99, latency_ns_max, response_ns_p99, backlog
FROM interval;

DROP TABLE interval;

ALTER TABLE interval_of_group RENAME TO interval;
