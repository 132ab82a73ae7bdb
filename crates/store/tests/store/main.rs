//! The result file, seen from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod additions;
mod canaries;
mod client_hosts;
mod counting;
mod definitions;
mod disk;
mod documentation;
mod killed;
mod merging;
mod opening;
mod pacing;
mod placements;
mod recording;
mod sample;
mod samples;
mod settings;
mod state;
mod trials;
