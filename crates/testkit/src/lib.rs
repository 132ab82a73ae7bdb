//! Plans and outcomes for the tests of other crates. Every builder sets what a test has to name
//! and gives the other fields plain values; a test changes those with `..` or by assignment.
//!
//! A development dependency only. The crate `model` cannot use it: its own unit tests are compiled
//! with another copy of the types.

#![expect(
    clippy::unwrap_used,
    reason = "a wrong literal fails the test that has it"
)]

mod calibration;
mod outcome;
mod placement;
mod plan;
mod workload;

pub use calibration::{calibration, closed_point};
pub use outcome::{encoded, group_outcome, histogram, statement_outcome, step_outcome};
pub use placement::{free, paired, placed, threads_on};
pub use plan::{build, group, plan, planned, step, target};
pub use workload::{draw, param, statement, workload};
