-- From this version on, several hosts can measure blocks of one run, each into a file of its own: a
-- part. Parts are merged into one file.
ALTER TABLE run ADD COLUMN run_uuid TEXT;
ALTER TABLE run ADD COLUMN prony_build TEXT;

-- Hosts of one kind are told apart by their names.
ALTER TABLE host ADD COLUMN host_name TEXT;

ALTER TABLE load ADD COLUMN host_id INTEGER REFERENCES host (id);
UPDATE load SET host_id = (SELECT max(id) FROM host) WHERE (SELECT count(*) FROM host) = 1;
UPDATE load SET host_id = (SELECT host_id FROM trial WHERE trial.id = trial_id)
WHERE trial_id IS NOT NULL;

ALTER TABLE calibration ADD COLUMN host_id INTEGER REFERENCES host (id);
UPDATE calibration SET host_id =
    (SELECT max(id) FROM host WHERE host.recorded_at <= calibration.recorded_at);

-- In a part, itself; in a merged file, every part that it was merged from.
CREATE TABLE part (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    host_name        TEXT NOT NULL,
    attempt     INTEGER NOT NULL CHECK (attempt >= 0),
    job         TEXT,
    prony_build TEXT NOT NULL,
    blocks      TEXT NOT NULL,
    used        TEXT
) STRICT;

-- The host that load generators run on, where that is another one, each time that the run began or was
-- resumed.
CREATE TABLE client_host (
    id          INTEGER PRIMARY KEY,
    recorded_at TEXT NOT NULL,
    facts       TEXT NOT NULL
) STRICT;
