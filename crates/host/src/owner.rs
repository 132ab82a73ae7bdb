//! Which process of Prony a folder or a child process belongs to, and whether it still lives.

use std::fmt;
use std::fs;
use std::str::FromStr;

/// The environment variable that every child process carries; its value is an [`Owner`].
pub(crate) const OWNER_VARIABLE: &str = "PRONY_OWNER";

/// A process, named so that a later process with the same number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// When it started, in clock ticks since the machine started.
    pub start_ticks: u64,
}

/// Said of a text that is not `pid:start`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a process")]
pub struct OwnerError(String);

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// When `/proc` can't be read.
    pub fn current() -> Result<Self, OwnerError> {
        let pid = std::process::id();
        Self::of(pid).ok_or_else(|| OwnerError(format!("/proc/{pid}/stat")))
    }

    /// The living process with this id; `None` when there is none, or only a zombie of it.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let start_ticks = living_since(&stat)?;
        Some(Self { pid, start_ticks })
    }

    /// Whether that very process still lives.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

/// Field 22 of `/proc/PID/stat` (proc(5)), unless field 3 says that the process is dead. The
/// command in field 2 may hold spaces and brackets, so fields are counted after its last bracket.
fn living_since(stat: &str) -> Option<u64> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.pid, self.start_ticks)
    }
}

impl FromStr for Owner {
    type Err = OwnerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || OwnerError(text.to_owned());
        let (pid, start) = text.split_once(':').ok_or_else(error)?;
        Ok(Self {
            pid: pid.parse().map_err(|_| error())?,
            start_ticks: start.parse().map_err(|_| error())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_round_trips() {
        let owner = Owner::current().unwrap();
        assert!(owner.is_alive());
        assert_eq!(owner.to_string().parse(), Ok(owner));
        let impostor = Owner {
            start_ticks: owner.start_ticks + 1,
            ..owner
        };
        assert!(!impostor.is_alive());
    }

    #[test]
    fn commands_with_brackets_do_not_confuse() {
        let fields = "1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 0";
        assert_eq!(living_since(&format!("9 (a) b) S {fields}")), Some(777));
        assert_eq!(living_since(&format!("9 (a) Z {fields}")), None);
        assert_eq!(living_since("9"), None);
    }

    #[test]
    fn refuses_other_texts() {
        for bad in ["", "1", "a:b", "1:", "-1:2"] {
            assert!(bad.parse::<Owner>().is_err(), "{bad}");
        }
    }
}
