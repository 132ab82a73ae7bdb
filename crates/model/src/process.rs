//! Settings of a server's process, beside the options that the server itself reads.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::written_as_text;
use crate::words::words;

/// Settings of a server's process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSettings {
    /// The memory allocator of the server.
    pub allocator: Allocator,
    /// Transparent huge pages of the server.
    pub huge_pages: HugePages,
}

words! {
    /// A memory allocator.
    #[derive(Default)]
    pub enum Allocator {
        /// The one that the build was linked with.
        #[default]
        Built = "built",
        /// jemalloc, preloaded.
        Jemalloc = "jemalloc",
        /// tcmalloc, preloaded.
        Tcmalloc = "tcmalloc",
    }
}

/// Transparent huge pages of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HugePages {
    /// As the machine is set.
    #[default]
    System,
    /// Never, whatever the machine is set to.
    Never,
}

/// A library that a server's process loads before all others, `LD_PRELOAD` of `ld.so(8)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreloadedLibrary {
    /// Absolute path of its file.
    pub file: PathBuf,
    /// SHA-256 of the file in hexadecimal digits.
    pub sha256: String,
}

impl PreloadedLibrary {
    /// Digits of the digest that people are shown.
    const SHOWN: usize = 12;

    /// The name of the file, up to its first dot: `libjemalloc` of `libjemalloc.so.2`.
    pub fn stem(&self) -> String {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    }
}

/// Its name and the beginning of its digest, and not its folder, which changes nothing.
impl fmt::Display for PreloadedLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let digest = self.sha256.get(..Self::SHOWN).unwrap_or(&self.sha256);
        write!(f, "{name} (sha256 {digest})")
    }
}

/// A set of processors by number, such as `0-3,6`. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuSet {
    /// Ascending, each once.
    cpus: Vec<u16>,
}

/// Said of a text that is no set of processors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a set of processors: write their numbers, such as \"0\", \"0-3\" or \"0,2\"")]
pub struct CpuSetError(pub String);

impl CpuSet {
    /// Highest number of a processor that can be named; the kernel's own set has 1024 places.
    pub const MAX: u16 = 1023;

    /// The set of these processors; `None` where there are none, or a number is above
    /// [`Self::MAX`].
    pub fn of(cpus: impl IntoIterator<Item = u16>) -> Option<Self> {
        let mut cpus: Vec<u16> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        let fits = cpus.last().is_some_and(|last| *last <= Self::MAX);
        fits.then_some(Self { cpus })
    }

    /// The processors, ascending, each once.
    pub fn cpus(&self) -> &[u16] {
        &self.cpus
    }

    /// The processors of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut cpus = [self.cpus.as_slice(), other.cpus.as_slice()].concat();
        cpus.sort_unstable();
        cpus.dedup();
        Self { cpus }
    }

    /// Returns `true` if the sets have a processor in common.
    pub fn meets(&self, other: &Self) -> bool {
        self.cpus.iter().any(|cpu| other.cpus.contains(cpu))
    }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || CpuSetError(text.to_owned());
        let number = |text: &str| -> Result<u16, CpuSetError> {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let number = text.parse().ok().filter(|n| digits && *n <= Self::MAX);
            number.ok_or_else(error)
        };
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let part = part.trim();
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(error());
            }
            cpus.extend(first..=last);
        }
        Self::of(cpus).ok_or_else(error)
    }
}

written_as_text!(CpuSet, CpuSetError);

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.cpus.as_slice();
        let mut separator = "";
        while let [first, ..] = rest {
            let run = rest
                .iter()
                .zip(*first..)
                .take_while(|(cpu, expected)| *cpu == expected)
                .count();
            match run {
                1 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{}", rest[run - 1])?,
            }
            separator = ",";
            rest = &rest[run..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_read_and_write() {
        for (text, shown, count) in [
            ("0", "0", 1),
            ("0-3", "0-3", 4),
            ("6,0-1", "0-1,6", 3),
            ("1,0,1", "0-1", 2),
        ] {
            let set: CpuSet = text.parse().unwrap();
            assert_eq!((set.to_string().as_str(), set.cpus().len()), (shown, count));
        }
        let set = |text: &str| text.parse::<CpuSet>().unwrap();
        assert_eq!(set("0,2").union(&set("1-2")), set("0-2"));
        assert!(set("0,2").meets(&set("2-3")) && !set("0,2").meets(&set("1,3")));
        assert_eq!(CpuSet::of([3, 1, 3]), "1,3".parse().ok());
        assert_eq!(CpuSet::of([]), None);
        assert_eq!(CpuSet::of([0, 1024]), None);
        for bad in ["", ",", "a", "3-1", "-1", "1-", "0,,1", "1024", "+1"] {
            assert!(bad.parse::<CpuSet>().is_err(), "{bad}");
        }
    }
}
