//! Runs an experiment: makes targets ready, runs the trials of every block in their order, and
//! writes what happens to the result file, so that a run can be resumed at any point.
//!
//! The lab prints nothing (it hands out [`Event`]s) and judges nothing (reports do that, from the
//! result file).

mod adhoc;
mod calibrate;
mod collectors;
mod counted;
mod drive;
mod error;
mod event;
mod explain;
mod fault;
mod generator;
mod lab;
mod null_server;
mod prepare;
mod ready;
mod run;
mod server;
mod settle;
mod start;
mod strain;
mod survey;
mod trial;
mod verify;

pub use adhoc::{AdHoc, AdHocEnd, AdHocError, AdHocWarning, Tables, adhoc};
pub use calibrate::{
    CalibrationError, CalibrationEvent, CalibrationPoints, Calibrator, KeepError,
    available_backends,
};
pub use error::LabError;
pub use event::{Activity, Event, Events};
pub use generator::GeneratorError;
pub use lab::Lab;
pub use prepare::check;
pub use run::{RunEnd, run};
pub use survey::{Effective, effective};
pub use verify::{Verification, VerifiedCell, VerifiedTarget, verify};
