-- What the threads of a server executed in the measured time of a step, by function and chain of callers.
CREATE TABLE profile (
    trial_id INTEGER NOT NULL,
    step_id  INTEGER NOT NULL,
    source   TEXT NOT NULL CHECK (source IN ('callgrind')),
    content  BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id, source),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT;
