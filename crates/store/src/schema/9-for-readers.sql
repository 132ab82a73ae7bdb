-- Stands for what version 9 adds, where an older file is read and stays as it is.
CREATE TEMP TABLE stack_samples (trial_id INTEGER, step_id INTEGER, content BLOB) STRICT;
