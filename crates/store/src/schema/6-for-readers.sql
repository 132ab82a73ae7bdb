-- Stands for what version 6 adds, where an older file is read and stays as it is.
CREATE TEMP VIEW interval AS SELECT *, 0 AS group_position FROM main.interval;
