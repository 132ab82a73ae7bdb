//! The memory of a server.

use prony_model::{Gap, Source};

use crate::draft::{Draft, gap};
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
        let rollup = rollup(root, pid);
        if let Err(error) = &rollup {
            let remedy = if error.is_denied() {
                ": run Prony as the user that the server runs as"
            } else if error.is_gone() {
                ": shared memory is reported by Linux 4.14 and later"
            } else {
                ""
            };
            absences.push(gap(Source::Memory, format!("{error}{remedy}")));
        }
        Self {
            has_rollup: rollup.is_ok(),
        }
    }

    /// Reads the figures that come with the processes.
    pub(crate) fn sample(members: &[Member], draft: &mut Draft) {
        let mut resident = own(members).map(|member| pages_to_bytes(member.stat.resident_pages));
        // Processes that share memory would each bring it along.
        if let (Some(only), None) = (resident.next(), resident.next()) {
            draft.put(Source::Memory, "resident_bytes", only);
        }
        let threads = sum(members.iter().map(|member| member.stat.threads));
        draft.put(Source::Memory, "threads", threads);
    }

    /// Reads the figures for which the kernel walks through all memory.
    pub(crate) fn sample_shares(&self, root: &Root, members: &[Member], draft: &mut Draft) {
        if !self.has_rollup || members.is_empty() {
            return;
        }
        let several = own(members).nth(1).is_some();
        let rollups = own(members).map(|member| rollup(root, member.pid));
        // One that has ended since has no memory. The first one's end is the server's.
        let is_there = |(index, rollup): &(usize, Result<_, ProbeError>)| {
            *index == 0 || !rollup.as_ref().is_err_and(ProbeError::is_gone)
        };
        let rollups = rollups
            .enumerate()
            .filter(is_there)
            .map(|(_, rollup)| rollup);
        match rollups.collect::<Result<Vec<_>, _>>() {
            Ok(rollups) => {
                let total = |index: usize| sum(rollups.iter().map(|rollup| rollup[index]));
                draft.put(Source::Memory, "proportional_bytes", total(0));
                draft.put(Source::Memory, "anonymous_huge_bytes", total(1));
                if several {
                    draft.put(Source::Memory, "resident_bytes", total(0));
                }
            }
            Err(error) => draft.gap(Source::Memory, &error),
        }
    }
}

/// The processes that have memory of their own, and not that of the first one.
fn own(members: &[Member]) -> impl Iterator<Item = &Member> {
    let is_own = |(index, member): &(usize, &Member)| *index == 0 || !member.stat.shares_memory();
    members.iter().enumerate().filter(is_own).map(|(_, m)| m)
}

/// Proportional and anonymous huge bytes of `/proc/PID/smaps_rollup`. Source of the layout:
/// proc(5), smaps.
fn rollup(root: &Root, pid: u32) -> Result<[u64; 2], ProbeError> {
    let path = format!("proc/{pid}/smaps_rollup");
    root.parse(path, "lines `Pss:` and `AnonHugePages:`", |text| {
        Some([kibibytes(text, "Pss:")?, kibibytes(text, "AnonHugePages:")?])
    })
}
