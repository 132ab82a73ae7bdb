//! Measuring one run with many hosts: its blocks become parts, which an engine such as Slurm hands to
//! hosts, and parts become one run again.
//!
//! Prony schedules nothing. A part is a file that one host writes on its own disk and delivers as a
//! whole into the run's shared folder ([`RunFolder`]); the truth about a run is in these files, never
//! in the engine.

mod collect;
mod deliver;
mod engine;
mod error;
mod folder;
mod hosts;
mod limits;
mod round;
mod slurm;
mod status;

pub use collect::{Collected, collect};
pub use deliver::{PartName, deliver};
pub use engine::{Engine, Request, TaskState};
pub use error::FleetError;
pub use folder::RunFolder;
pub use hosts::{Client, Host, read_client, read_hosts};
pub use limits::{limit_minutes, predicted_part_ms};
pub use round::{Round, groups};
pub use slurm::Slurm;
pub use status::{BlockState, Status, status};
