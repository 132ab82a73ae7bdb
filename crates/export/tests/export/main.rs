//! Exports of runs that are made up but complete, as their readers see them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod documentation;
mod files;
mod golden;
mod queries;
mod sample;
