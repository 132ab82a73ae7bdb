//! The result file of a run: one SQLite file with everything that reports and `resume` need.
//!
//! [`Store`] writes events as they happen, each in one transaction, and answers typed questions.
//! Rates and percentiles are not stored: readers derive them from raw counts and histograms. The
//! schema with its units is described in `docs/formats/result-file.md`.
//!
//! **What survives what.** A transaction that has returned survives the death of the program at
//! any later moment, SIGKILL included, because its pages are then in the write-ahead log, in the
//! hands of the operating system. A power failure can lose the last transactions but never
//! corrupts the file: the trials concerned are then missing, and `resume` runs them again.

mod additions;
mod artefacts;
mod calibrations;
mod canaries;
mod client_hosts;
mod counting;
mod database;
mod definitions;
mod error;
mod header;
mod lock;
mod merge;
mod outcomes;
mod parts;
mod placements;
mod profiles;
mod run;
mod samples;
mod scheduling;
mod schema;
mod settings;
mod state;
mod store;
mod stored_plan;
mod trials;
mod values;
mod warnings;

pub use artefacts::Artefact;
pub use canaries::CanaryRow;
pub use definitions::{DefinitionFile, DefinitionKind};
pub use error::StoreError;
pub use merge::{Merged, RefusedPart, merge};
pub use outcomes::{
    ErrorRow, HistogramRow, OutcomeRow, ScheduleRow, StatementRow, Stretch, StretchRow,
    ThreadUseRow,
};
pub use parts::{NewPart, PartRow};
pub use placements::PlacementRow;
pub use run::{BuildRecord, BuildRow, CellRow, HostRow, RunRow};
pub use samples::{Counters, FlatSample};
pub use settings::PlanTextRow;
pub use state::{DebtRow, LoadRecord, LoadRow, SettleRow};
pub use store::{NewRun, Store};
pub use stored_plan::{Addition, AdditionRow};
pub use trials::{TrialCounts, TrialId, TrialRow};
pub use warnings::{Subject, WarningRow};
