//! Blocks that are added while a run goes on, and what becomes of them.

use serde::{Deserialize, Serialize};

use crate::Thousandths;
use crate::words::words;

words! {
    /// What is known of a difference between a target and the base, in one metric at one step.
    pub enum Verdict {
        /// The target is better.
        Improved = "improved",
        /// The target is worse.
        Regressed = "regressed",
        /// The difference is within the margin.
        Equivalent = "equivalent",
        /// Too little is known for any of these.
        Inconclusive = "inconclusive",
    }
}

/// Blocks that are added until ratios are as precise as wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    /// Half-width of the 95 % interval of a ratio that is wanted, in percent; above 0.
    pub precision_percent: Thousandths,
    /// Milliseconds after which no block is begun.
    pub budget_ms: u64,
    /// Numbers of blocks after which the run looks at its ratios, ascending. The last one is the most
    /// blocks.
    pub looks: Vec<u32>,
}

/// Steps that a block leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockWithout {
    /// Block, counted from 0.
    pub block: u32,
    /// Indices in [`Plan::steps`](crate::Plan::steps), ascending.
    pub steps: Vec<usize>,
}

words! {
    /// Reasons for trials that are added to a plan after its run began.
    pub enum AdditionReason {
        /// The user asked for more blocks.
        Append = "append",
        /// Ratios were not as precise as the experiment wants them.
        Campaign = "campaign",
    }
}
