//! What the two sides say to each other.

use std::net::{IpAddr, SocketAddr};

use prony_model::{Counter, CpuSet, Gap, Moment, NetworkFacts};
use serde::{Deserialize, Serialize};

use super::FarHost;

/// A line from the lab to the far end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Order {
    /// A sign of life.
    Beat,
    /// Describe the host, and the way to this address of the lab's.
    Describe { server: IpAddr },
    /// Measure the network to what listens at this address.
    Network { address: SocketAddr },
    /// Start a load generator that gets this number.
    Start {
        generator: u32,
        cpus: Option<CpuSet>,
    },
    /// A line for its input.
    Line { generator: u32, line: String },
    /// It is not needed any more.
    Kill { generator: u32 },
    /// Read the host.
    Sample { moment: Moment },
}

/// A line from the far end to the lab.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Report {
    /// The first line: who speaks. Both sides of any build understand it.
    Greeting { version: String, build: String },
    /// A sign of life.
    Beat,
    /// The answer to `Describe`.
    Host(Box<FarHost>),
    /// The answer to `Network`, or the reason why there is none.
    Network(Result<NetworkFacts, String>),
    /// The answer to `Sample`.
    Sample {
        values: Vec<(Counter, u64)>,
        gaps: Vec<Gap>,
    },
    /// A line of a load generator's output.
    Line { generator: u32, line: String },
    /// A load generator ended; its end in words that follow "it".
    Ended { generator: u32, how: String },
}
