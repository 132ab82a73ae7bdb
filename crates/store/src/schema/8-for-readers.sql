-- Stands for what version 8 adds, where an older file is read and stays as it is.
CREATE TEMP TABLE profile (
    trial_id INTEGER, step_id INTEGER, source TEXT, content BLOB
) STRICT;
