-- Stands for what version 5 adds, where an older file is read and stays as it is.
CREATE TEMP TABLE definition (id INTEGER PRIMARY KEY, kind TEXT, name TEXT, text TEXT) STRICT;
