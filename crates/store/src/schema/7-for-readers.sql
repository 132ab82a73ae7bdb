-- Stands for what version 7 adds, where an older file is read and stays as it is.
CREATE TEMP VIEW run AS SELECT *, NULL AS run_uuid, NULL AS prony_build FROM main.run;

CREATE TEMP VIEW host AS SELECT *, NULL AS host_name FROM main.host;

CREATE TEMP VIEW load AS SELECT *, NULL AS host_id FROM main.load;

CREATE TEMP VIEW calibration AS SELECT *, NULL AS host_id FROM main.calibration;

CREATE TEMP TABLE part (
    id INTEGER PRIMARY KEY, name TEXT, host_name TEXT, attempt INTEGER, job TEXT, prony_build TEXT,
    blocks TEXT, used TEXT
) STRICT;

CREATE TEMP TABLE client_host (
    id INTEGER PRIMARY KEY, recorded_at TEXT, facts TEXT
) STRICT;
