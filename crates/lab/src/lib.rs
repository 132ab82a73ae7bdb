//! Runs an experiment: makes targets ready, runs the trials of every block in their order, and
//! writes what happens to the result file, so that a run can be resumed at any point.
//!
//! The lab prints nothing (it hands out [`Event`]s) and judges nothing (reports do that, from the
//! result file).

mod adhoc;
mod attempts;
mod calibrate;
mod campaign;
mod ceiling;
mod drive;
mod error;
mod event;
mod far;
mod fault;
mod history;
mod lab;
mod measure;
mod placement;
mod prepare;
mod replace;
mod run;
mod server;
mod together;
mod trial;
mod verify;
mod warnings;
mod watch;

pub use adhoc::{AdHoc, AdHocEnd, AdHocError, Tables, adhoc};
pub use calibrate::{
    CalibrationError, CalibrationEvent, CalibrationPoints, Calibrator, KeepError,
    available_backends, recalled_calibration,
};
pub use campaign::{
    BlockTimes, CampaignDecision, CampaignEnd, Precision, StepPrecision, decide, step_counts,
    step_precisions,
};
pub use error::{ClientHostError, GeneratorError, LabError};
pub use event::{Activity, Event, Events};
pub use far::{ClientHost, ClientHostSetup, is_public, serve_far};
pub use history::{Alarms, History};
pub use lab::Lab;
pub use placement::{HostProcessors, PlannedPlacements, StepSize, default_placement, resolve};
pub use prepare::{Effective, check, effective};
pub use run::{More, RunEnd, run};
pub use verify::{Verification, VerifiedCell, VerifiedTarget, verify};
