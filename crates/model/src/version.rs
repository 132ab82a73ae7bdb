//! Server families and versions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::text::written_as_text;
use crate::words::words;

words! {
    /// The line of descent of a server: decides dialect, options and capabilities.
    pub enum Family {
        /// MySQL and servers that follow its versions.
        Mysql = "mysql",
        /// MariaDB.
        Mariadb = "mariadb",
        /// PostgreSQL.
        Postgresql = "postgresql",
    }
}

impl Family {
    /// The family that its protocol is named after: servers of MariaDB speak that of MySQL.
    #[must_use]
    pub const fn of_protocol(self) -> Self {
        match self {
            Self::Mysql | Self::Mariadb => Self::Mysql,
            Self::Postgresql => Self::Postgresql,
        }
    }

    /// The engine of tables where none is asked for.
    pub const fn usual_engine(self) -> Engine {
        match self {
            Self::Mysql | Self::Mariadb => Engine::Innodb,
            Self::Postgresql => Engine::Heap,
        }
    }

    /// The engines that servers of this family may have.
    pub fn engines(self) -> Vec<Engine> {
        let is_own = |engine: &Engine| (*engine == Engine::Heap) == (self == Self::Postgresql);
        Engine::ALL.into_iter().filter(is_own).collect()
    }
}

/// Said of a family name that Prony does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown server family `{0}`: expected mysql, mariadb or postgresql")]
pub struct UnknownFamily(pub String);

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut families = Self::ALL.into_iter();
        let family = families.find(|family| family.name() == text);
        family.ok_or_else(|| UnknownFamily(text.to_owned()))
    }
}

/// A server version as the servers number them: `major.minor.patch`.
///
/// Ordered. Comparable only within one [`Family`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// First number.
    pub major: u16,
    /// Second number.
    pub minor: u16,
    /// Third number, 0 where it was not written.
    pub patch: u16,
}

/// Said of a text that does not begin with a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not begin with a version such as 5.7.22 or 10.11")]
pub struct VersionError(pub String);

impl Version {
    /// A version from its three numbers.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads the version at the start of what `SELECT VERSION()` answers, such as
    /// `5.0.21-max-log` or `10.11.18-MariaDB-0+deb12u1`. A missing patch number reads as 0.
    ///
    /// # Errors
    /// When the text does not begin with `major.minor`.
    pub fn from_server(text: &str) -> Result<Self, VersionError> {
        let error = || VersionError(text.to_owned());
        let end = text
            .find(|c: char| c != '.' && !c.is_ascii_digit())
            .unwrap_or(text.len());
        let mut numbers = text[..end]
            .trim_end_matches('.')
            .split('.')
            .map(str::parse::<u16>);
        let mut next = || numbers.next().transpose().map_err(|_| error());
        let major = next()?.ok_or_else(error)?;
        let minor = next()?.ok_or_else(error)?;
        let patch = next()?.unwrap_or(0);
        Ok(Self {
            major,
            minor,
            patch,
        })
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numeric = text.chars().all(|c| c == '.' || c.is_ascii_digit());
        if !numeric || text.split('.').count() > 3 {
            return Err(VersionError(text.to_owned()));
        }
        Self::from_server(text)
    }
}

written_as_text!(Version, VersionError);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_servers_answer() {
        for (text, expected) in [
            ("5.0.21-max-log", Version::new(5, 0, 21)),
            ("10.11.18-MariaDB-0+deb12u1-log", Version::new(10, 11, 18)),
            ("9.7.4-2", Version::new(9, 7, 4)),
            ("8.0.31", Version::new(8, 0, 31)),
            ("10.11", Version::new(10, 11, 0)),
        ] {
            assert_eq!(Version::from_server(text), Ok(expected), "{text}");
        }
        for bad in ["", "five", "8", "-8.0", "8.x"] {
            assert!(Version::from_server(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn catalogue_versions_are_strict() {
        assert_eq!("5.7.22".parse(), Ok(Version::new(5, 7, 22)));
        for bad in ["5.7.22-log", "1.2.3.4", "5", ""] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }

    #[test]
    fn orders_by_number_not_by_text() {
        assert!(Version::new(5, 7, 9) < Version::new(5, 7, 22));
        assert!(Version::new(10, 2, 0) > Version::new(9, 7, 4));
    }
}
