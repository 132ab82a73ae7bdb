//! Numbers in, estimates out; knows no domain word.
//!
//! All values are positive and finite: rates, durations, costs; amounts may be zero. Anything else is
//! an error and not a silent NaN.

mod adjusted;
mod bootstrap;
mod fluctuation;
mod group;
mod group_means;
mod log_ratio;
mod looks;
mod means;
mod paired;
mod planning;
mod segments;
mod signed_rank;
mod student;
mod summary;
mod unpaired;

pub use adjusted::{benjamini_hochberg, holm};
pub use bootstrap::{BootstrapRatio, bootstrap_ratio};
pub use fluctuation::Fluctuation;
pub use group::row_means;
pub use group_means::GroupMeans;
pub use log_ratio::{Interval, LogRatio};
pub use looks::Looks;
pub use means::{RatioBounds, RatioOfMeans};
pub use paired::{PairedRatio, Pairs};
pub use planning::PairedTest;
pub use segments::{Change, HISTORY_MIN, Segments, change_points};
pub use signed_rank::SignedRank;
pub use student::{normal_both_tails, t_quantile};
pub use summary::{SampleError, Summary};
pub use unpaired::UnpairedRatio;
