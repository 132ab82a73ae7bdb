//! The result file of a run: schema, typed writes and reads.
