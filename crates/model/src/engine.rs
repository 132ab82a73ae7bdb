//! Storage engines.

use std::str::FromStr;

use crate::words::words;

words! {
    /// A storage engine that Prony can load a dataset into.
    pub enum Engine {
        /// InnoDB, built in or as a plugin.
        Innodb = "innodb",
        /// MyISAM.
        Myisam = "myisam",
        /// MEMORY, formerly HEAP.
        Memory = "memory",
        /// MyRocks.
        Rocksdb = "rocksdb",
        /// Aria, MariaDB's crash-safe MyISAM.
        Aria = "aria",
        /// PostgreSQL's own tables.
        Heap = "heap",
    }
}

/// Said of an engine name that Prony does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown storage engine `{0}`: expected innodb, myisam, memory, rocksdb, aria or heap")]
pub struct UnknownEngine(pub String);

impl Engine {
    /// The name for an `ENGINE=` clause, accepted by every version since 4.1; of PostgreSQL's the name of its
    /// access method.
    pub const fn sql_name(self) -> &'static str {
        match self {
            Self::Innodb => "InnoDB",
            Self::Myisam => "MyISAM",
            Self::Memory => "MEMORY",
            Self::Rocksdb => "ROCKSDB",
            Self::Aria => "Aria",
            Self::Heap => "heap",
        }
    }

    /// True where `BEGIN` and `COMMIT` mean something. Aria's are crash-safe but not transactional.
    pub const fn transactional(self) -> bool {
        matches!(self, Self::Innodb | Self::Rocksdb | Self::Heap)
    }

    /// True where foreign keys are checked.
    pub const fn keeps_foreign_keys(self) -> bool {
        matches!(self, Self::Innodb | Self::Heap)
    }

    /// True where a transaction that has waited for a row finds it if the one that it waited for has
    /// deleted the row and put it back. In PostgreSQL it is another row then.
    pub const fn finds_replaced_rows(self) -> bool {
        self.transactional() && !matches!(self, Self::Heap)
    }

    /// True where tables keep their rows when the server stops.
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
