//! Numbers in, estimates out; knows no domain word.
//!
//! All values are positive and finite: rates, durations, costs; amounts may be zero. Anything else is
//! an error and not a silent NaN.

mod paired;
mod summary;

pub use paired::{PairedRatio, Pairs};
pub use summary::{SampleError, Summary};
