//! Storage engines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A storage engine that Prony can load a dataset into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// InnoDB, built in or as a plugin.
    Innodb,
    /// MyISAM.
    Myisam,
    /// MEMORY, formerly HEAP.
    Memory,
    /// MyRocks.
    Rocksdb,
    /// Aria, MariaDB's crash-safe MyISAM.
    Aria,
}

/// Said of an engine name that Prony does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown storage engine `{0}`: expected innodb, myisam, memory, rocksdb or aria")]
pub struct UnknownEngine(pub String);

impl Engine {
    /// Every engine, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::Innodb,
        Self::Myisam,
        Self::Memory,
        Self::Rocksdb,
        Self::Aria,
    ];

    /// The name as experiment files and catalogues write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Innodb => "innodb",
            Self::Myisam => "myisam",
            Self::Memory => "memory",
            Self::Rocksdb => "rocksdb",
            Self::Aria => "aria",
        }
    }

    /// The name for an `ENGINE=` clause, accepted by every version since 4.1.
    pub const fn sql_name(self) -> &'static str {
        match self {
            Self::Innodb => "InnoDB",
            Self::Myisam => "MyISAM",
            Self::Memory => "MEMORY",
            Self::Rocksdb => "ROCKSDB",
            Self::Aria => "Aria",
        }
    }

    /// Whether `BEGIN` and `COMMIT` mean something. Aria's are crash-safe but not transactional.
    pub const fn transactional(self) -> bool {
        matches!(self, Self::Innodb | Self::Rocksdb)
    }

    /// Whether tables keep their rows when the server stops.
    pub const fn persistent(self) -> bool {
        !matches!(self, Self::Memory)
    }
}

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|engine| engine.name() == text)
            .ok_or_else(|| UnknownEngine(text.to_owned()))
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for engine in Engine::ALL {
            assert_eq!(engine.name().parse(), Ok(engine));
        }
        assert!("InnoDB".parse::<Engine>().is_err());
    }
}
