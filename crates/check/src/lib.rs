//! Short measurements of a host without a server: the price of wake-ups, the canary, a fixed
//! computation that shows if the host is as fast as it was, and a check of everything that makes
//! ratios untrustworthy.
//!
//! Nothing here judges a run or changes a setting.

mod canary;
mod check;
mod error;
mod host;
mod interruptions;
mod neighbour;
mod ping_pong;
mod placement;
mod processor_time;
mod processors;
mod steadiness;
#[cfg(test)]
mod testing;
mod wake_ups;
mod words;

pub use canary::canary;
pub use check::{CheckStage, HostCheck, Lengths};
pub use error::CheckError;
pub use processors::Pair;
pub use wake_ups::wake_ups;
