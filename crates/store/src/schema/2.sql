-- Whether each thread of the load generator shares a processor with the sessions of its clients.
ALTER TABLE placement ADD COLUMN paired INTEGER NOT NULL DEFAULT 0 CHECK (paired IN (0, 1));
