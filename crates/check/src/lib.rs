//! Short measurements of a host without a server: the price of wake-ups, and a fixed computation
//! that shows if the host is as fast as it was.
//!
//! Nothing here judges a run or changes a setting.

mod canary;
mod error;
mod ping_pong;
mod processors;
mod wake_ups;

pub use canary::canary;
pub use error::CheckError;
pub use processors::Pair;
pub use wake_ups::wake_ups;
