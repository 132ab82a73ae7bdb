//! The memory of a server.

use prony_model::{Gap, Source};

use crate::draft::Draft;
use crate::members::Member;
use crate::root::{ProbeError, Root, pages_to_bytes};
use crate::text::{kibibytes, sum};

/// Reads the memory of processes.
#[derive(Debug)]
pub(crate) struct Memory {
    has_rollup: bool,
}

impl Memory {
    /// Finds out whether the kernel tells shared memory apart.
    pub(crate) fn new(root: &Root, pid: u32, absences: &mut Vec<Gap>) -> Self {
        let remedy = match Rollup::of(root, pid) {
            Ok(_) => None,
            Err(error) if error.is_denied() => Some(format!(
                "{error}: run Prony as the user that the server runs as"
            )),
            Err(error) if error.is_gone() => Some(format!(
                "{error}: shared memory is told apart by kernels from 4.14 on"
            )),
            Err(error) => Some(error.to_string()),
        };
        let has_rollup = remedy.is_none();
        absences.extend(remedy.map(|reason| Gap {
            source: Source::Memory,
            reason,
        }));
        Self { has_rollup }
    }

    /// Reads what comes with the processes.
    pub(crate) fn sample(members: &[Member], draft: &mut Draft) {
        let resident = own(members).map(|member| pages_to_bytes(member.stat.resident_pages));
        draft.put_known(Source::Memory, "resident_bytes", sum(resident));
        let threads = members.iter().map(|member| Some(member.stat.threads));
        draft.put_known(Source::Memory, "threads", sum(threads));
    }

    /// Reads what the kernel has to walk through all memory for.
    pub(crate) fn sample_shares(&self, root: &Root, members: &[Member], draft: &mut Draft) {
        if !self.has_rollup || members.is_empty() {
            return;
        }
        let mut rollups = Vec::new();
        for member in own(members) {
            match Rollup::of(root, member.pid) {
                Ok(rollup) => rollups.push(rollup),
                Err(error) => return draft.gap(Source::Memory, &error),
            }
        }
        let proportional = sum(rollups.iter().map(|rollup| Some(rollup.proportional_bytes)));
        draft.put_known(Source::Memory, "proportional_bytes", proportional);
        let huge = sum(rollups
            .iter()
            .map(|rollup| Some(rollup.anonymous_huge_bytes)));
        draft.put_known(Source::Memory, "anonymous_huge_bytes", huge);
    }
}

/// The processes that have memory of their own, and not that of the first one.
fn own(members: &[Member]) -> impl Iterator<Item = &Member> {
    let (first, others) = members.split_at(members.len().min(1));
    first
        .iter()
        .chain(others.iter().filter(|member| !member.stat.shares_memory()))
}

/// Values of `/proc/PID/smaps_rollup`. Source of the layout: proc(5), smaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rollup {
    proportional_bytes: u64,
    anonymous_huge_bytes: u64,
}

impl Rollup {
    fn of(root: &Root, pid: u32) -> Result<Self, ProbeError> {
        let path = format!("proc/{pid}/smaps_rollup");
        let text = root.read(&path)?;
        Self::parse(&text).ok_or_else(|| root.unexpected(path, "lines `Pss:` and `AnonHugePages:`"))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(Self {
            proportional_bytes: kibibytes(text, "Pss:")?,
            anonymous_huge_bytes: kibibytes(text, "AnonHugePages:")?,
        })
    }
}
