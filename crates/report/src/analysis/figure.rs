//! A metric over the blocks, whether it is measured by clients or a cost of the server.

use prony_model::TrialKind;
use prony_stats::{Pairs, Summary};

/// A metric over the blocks.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) summary: Summary,
    /// To the base. `None` for the base.
    pub(crate) ratio: Option<Pairs>,
    /// The kind of the trials behind it.
    pub(crate) taken: TrialKind,
}
