-- Version 2 of the result file: what every server was told, and how it plans to answer. Units and
-- meaning of every column: docs/formats/result-file.md.

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
