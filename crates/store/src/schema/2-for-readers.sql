-- Stands for what version 2 adds, where a file of version 1 is read and stays as it is.
CREATE TEMP VIEW placement AS SELECT *, 0 AS paired FROM main.placement;

CREATE TEMP TABLE addition (
    id INTEGER PRIMARY KEY, added_at TEXT, host_id INTEGER, reason TEXT, trials TEXT, without TEXT
) STRICT;
