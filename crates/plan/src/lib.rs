//! Experiment and workload files: parsing, validation, expansion.
