-- Samples of stacks that were found in profiling trials.
CREATE TABLE stack_samples (
    trial_id INTEGER NOT NULL,
    step_id  INTEGER NOT NULL,
    content  BLOB NOT NULL,
    PRIMARY KEY (trial_id, step_id),
    FOREIGN KEY (trial_id, step_id) REFERENCES outcome (trial_id, step_id)
) STRICT;
