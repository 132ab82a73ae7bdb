//! The load generator: it fills datasets and drives workloads, as `prony generator` runs it.
//!
//! A job comes in as one line, messages go out as lines; nothing else is shared with whoever asked,
//! but for the words to begin measuring and to close the connections, where the job holds until they
//! come. Every client has its connection. In a closed loop it asks again as soon as it was answered,
//! or after a think time; in an open loop operations arrive by a schedule that no answer changes.
//! Several groups of clients, each with a workload and a pace of its own, run side by side. All run
//! on a few threads, of which the calling one is the first. In steady state nothing is allocated,
//! locked or formatted for a query, and answers are skimmed, not decoded.

mod backend;
mod check;
mod choices;
mod client;
mod clock;
mod connection;
mod dataset;
mod drive;
mod error;
mod hello;
mod job;
mod limits;
mod loops;
mod message;
mod operations;
mod pacer;
mod program;
mod protocol;
mod recorder;
mod run;
mod samples;
mod scheduling;
mod serve;
mod values;
mod worker;

pub use backend::{BackendError, choose_backend, usual_threads};
pub use check::{CheckOutcome, CheckedStatement};
pub use dataset::checksum::{Digest, TableChecksum, dataset_checksums, verify_table};
pub use dataset::conditions::violations;
pub use dataset::sums::{TableSums, TableToSum, table_sums, tables_to_sum};
pub use error::LoadError;
pub use hello::{Hello, ProtocolMismatch};
pub use job::error::JobError;
pub use job::{CheckTask, DriveTask, FillTask, Job, Task};
pub use message::Message;
pub use program::{CompileError, StatementError};
pub use protocol::ProtocolError;
pub use run::run;
pub use samples::sample_statements;
pub use scheduling::{schedule_as, usual_scheduling};
pub use serve::serve;
pub use values::distribution::Sampler;
pub use values::draws::Draws;
