-- From this version on, a run keeps the files that the user wrote for it, as they were when it began.
CREATE TABLE definition (
    id   INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('experiment', 'workloads')),
    name TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
