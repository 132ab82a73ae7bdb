//! Reports of runs that are made up but complete, as their readers see them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod answer;
mod bases;
mod beside;
mod browsed;
mod browser;
mod canaries;
mod ceiling;
mod compare;
mod costs;
mod costs_beside;
mod documentation;
mod effective;
mod evenness;
mod explain;
mod explain_time;
mod golden;
mod hosts;
mod lineage;
mod loads;
mod measures;
mod paces;
mod page;
mod pairs;
mod placement;
mod promises;
mod sample;
mod schema;
mod studies;
mod verdicts;
mod views;
