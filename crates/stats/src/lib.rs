//! Numbers in, estimates out; knows no domain word.
//!
//! All values are positive and finite: rates, durations, costs; amounts may be zero. Anything else is
//! an error and not a silent NaN.

mod adjusted;
mod fluctuation;
mod log_ratio;
mod looks;
mod paired;
mod segments;
mod student;
mod summary;

pub use adjusted::{benjamini_hochberg, holm};
pub use fluctuation::Fluctuation;
pub use log_ratio::{Interval, LogRatio};
pub use looks::Looks;
pub use paired::{PairedRatio, Pairs};
pub use segments::{Change, HISTORY_MIN, Segments, change_points};
pub use student::t_975;
pub use summary::{SampleError, Summary};
