-- Whether each thread of the load generator shares a processor with the sessions of its clients.
ALTER TABLE placement ADD COLUMN paired INTEGER NOT NULL DEFAULT 0 CHECK (paired IN (0, 1));

-- Blocks that were added to the plan after the run began.
CREATE TABLE addition (
    id       INTEGER PRIMARY KEY,
    added_at TEXT NOT NULL,
    host_id  INTEGER NOT NULL REFERENCES host (id),
    reason   TEXT NOT NULL CHECK (reason IN ('append', 'campaign')),
    trials   TEXT NOT NULL,
    without  TEXT NOT NULL
) STRICT;
