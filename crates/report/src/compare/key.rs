//! What a cell can be filtered, grouped and sorted by.

use std::fmt;

/// A property of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// One of [`NAMES`].
    Named(&'static str),
    /// An intent or raw option of the target.
    Config(String),
    /// A parameter of the step's own clients.
    Parameter(String),
}

/// The keys without a part of their own, in the order of the documentation.
pub(crate) const NAMES: [&str; 19] = [
    "run",
    "target",
    "build",
    "family",
    "version",
    "engine",
    "transport",
    "protocol",
    "baseline",
    "backend",
    "host",
    "kernel",
    "step",
    "workload",
    "group",
    "section",
    "phase",
    "clients",
    "beside",
];

const CONFIG: &str = "config.";
const PARAMETER: &str = "param.";

impl Key {
    /// The key of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let rest = |prefix| {
            name.strip_prefix(prefix)
                .filter(|rest: &&str| !rest.is_empty())
        };
        if let Some(setting) = rest(CONFIG) {
            return Some(Self::Config(setting.to_owned()));
        }
        if let Some(parameter) = rest(PARAMETER) {
            return Some(Self::Parameter(parameter.to_owned()));
        }
        let known = NAMES.iter().find(|&&known| known == name);
        known.map(|&known| Self::Named(known))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Config(name) => write!(f, "{CONFIG}{name}"),
            Self::Parameter(name) => write!(f, "{PARAMETER}{name}"),
        }
    }
}
