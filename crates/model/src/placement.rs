//! The processors on which a server's sessions, its other threads and the load generator run.

mod default;

use std::fmt;

pub use default::{DefaultPlacement, DefaultReason};
use serde::{Deserialize, Serialize};

use crate::CpuSet;
use crate::words::words;

words! {
    /// A rule by which processors are given to a server and to the load generator. It depends on
    /// the number of clients and on the processors of the host, and on nothing else, so that all
    /// targets and blocks get the same.
    pub enum PlacementRule {
        /// Sessions and generator share as many processors as there are clients, so that a request
        /// wakes no other processor where that can be. The server's other threads have the rest.
        Together = "together",
        /// The generator has processors of its own, and the server the others.
        Apart = "apart",
        /// The kernel decides, and may change its mind at any time.
        Free = "free",
        /// The experiment names the processors.
        Sets = "sets",
    }
}

/// The placement that an experiment, a step or a target asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WantedPlacement {
    /// By a rule other than [`PlacementRule::Sets`].
    Rule(PlacementRule),
    /// On named processors.
    Sets(Processors),
}

/// Processors by role; `None` for all that Prony may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Processors {
    /// Threads or processes of the server that serve clients, and the thread that accepts these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<CpuSet>,
    /// All other threads of the server, such as those that flush and purge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<CpuSet>,
    /// The load generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<CpuSet>,
}

/// The placement of one step on one host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Placement {
    /// The rule that it follows.
    pub rule: PlacementRule,
    /// `true` if each thread of the load generator has one of the sessions' processors for itself
    /// and for the sessions of its clients, which are dealt evenly: no query wakes another
    /// processor. Idle sessions, and the thread that accepts, may then use all of these.
    #[serde(default)]
    pub paired: bool,
    /// The processors.
    pub processors: Processors,
}

/// The placement of a step, and the processors that the kernel named when asked while all clients
/// were connected and no statement was under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementReading {
    /// The placement that was asked for.
    pub placement: Placement,
    /// Sessions and the thread that accepts them, by the processors that they may use. Empty where
    /// they can't be told from other threads or the server is not Prony's own.
    pub sessions: Vec<ThreadsOn>,
    /// All other threads of the server; where sessions can't be told from others, all threads.
    pub background: Vec<ThreadsOn>,
    /// Threads of the load generator.
    pub generator: Vec<ThreadsOn>,
}

/// A number of threads that may use the same processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadsOn {
    /// The processors.
    pub cpus: CpuSet,
    /// Number of threads, or of processes that are threads; at least 1.
    pub threads: u32,
}

impl Processors {
    /// The roles that have processors of their own, by the keys of an experiment file.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &CpuSet)> {
        let roles = [
            ("sessions", self.sessions.as_ref()),
            ("background", self.background.as_ref()),
            ("generator", self.generator.as_ref()),
        ];
        roles
            .into_iter()
            .filter_map(|(role, cpus)| Some((role, cpus?)))
    }
}

/// As people read it: `sessions 0, background 1`; `all` where no role has processors of its own.
impl fmt::Display for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (role, cpus) in self.named() {
            write!(f, "{separator}{role} {cpus}")?;
            separator = ", ";
        }
        if separator.is_empty() {
            f.write_str("all")?;
        }
        Ok(())
    }
}

/// The rule with its processors, such as `together (sessions 1, background 0, generator 1)`, or
/// `together, paired (…)`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            PlacementRule::Free => self.rule.fmt(f),
            rule => {
                let paired = if self.paired { ", paired" } else { "" };
                write!(f, "{rule}{paired} ({})", self.processors)
            }
        }
    }
}

/// The word of the rule, or the sets.
impl fmt::Display for WantedPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => rule.fmt(f),
            Self::Sets(processors) => processors.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_as_people_read_them() {
        let mut placement = Placement {
            rule: PlacementRule::Apart,
            paired: false,
            processors: Processors {
                generator: Some("3".parse().unwrap()),
                ..Processors::default()
            },
        };
        assert_eq!(placement.to_string(), "apart (generator 3)");
        placement.rule = PlacementRule::Together;
        placement.paired = true;
        assert_eq!(placement.to_string(), "together, paired (generator 3)");
        placement.rule = PlacementRule::Free;
        assert_eq!(placement.to_string(), "free");
    }

    #[test]
    fn wishes_as_people_read_them() {
        let cpus = |text: &str| Some(text.parse().unwrap());
        let sets = |sessions, generator| {
            WantedPlacement::Sets(Processors {
                sessions,
                background: None,
                generator,
            })
        };
        for (wanted, shown) in [
            (WantedPlacement::Rule(PlacementRule::Together), "together"),
            (sets(cpus("1,0"), cpus("3")), "sessions 0-1, generator 3"),
            (sets(None, cpus("3")), "generator 3"),
            (sets(None, None), "all"),
        ] {
            assert_eq!(wanted.to_string(), shown);
            let stored = serde_json::to_string(&wanted).unwrap();
            assert_eq!(
                serde_json::from_str::<WantedPlacement>(&stored).unwrap(),
                wanted
            );
        }
    }
}
