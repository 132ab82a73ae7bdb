//! Runs an experiment: blocks, trials, steps, resume.
