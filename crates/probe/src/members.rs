//! Which processes a server is.
//!
//! Most servers are one process. Those that were built for the library `LinuxThreads` (MySQL 4.1)
//! have one for each of their threads, and PostgreSQL has one for each connection.

use std::collections::BTreeMap;

use crate::root::{ProbeError, Root};
use crate::stat::Stat;

/// How often the processes are looked for anew when one of them ends while they are read.
const TRIES: usize = 3;

/// One process of a server, as it was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    pub(crate) stat: Stat,
}

/// The processes of a server, parents before their children, the first one first.
pub(crate) type Members = Vec<Member>;

/// Why the processes of a server can't be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MembersError {
    #[error("the server has ended: {0}")]
    Ended(ProbeError),
    #[error(transparent)]
    Unreadable(ProbeError),
    #[error("processes of the server kept on ending while they were read")]
    Restless,
}

impl MembersError {
    fn of_first(error: ProbeError) -> Self {
        if error.is_gone() {
            Self::Ended(error)
        } else {
            Self::Unreadable(error)
        }
    }
}

/// Finds and reads all processes of the server whose first process is `first`: its descendants, and
/// the members of its process group where it leads one. (Processes of PostgreSQL lead groups of
/// their own; a process whose parent has ended is nobody's descendant.)
pub(crate) fn find(root: &Root, first: u32) -> Result<Members, MembersError> {
    for _ in 0..TRIES {
        let found = scan(root, first)?;
        if found.len() == 1 {
            return Ok(found);
        }
        if let Some(members) = read_again(root, &found)? {
            return Ok(members);
        }
    }
    Err(MembersError::Restless)
}

/// Reads processes that are known. `None` if one of them has ended, since then its parent, which
/// takes over its counts, has perhaps been read before that.
///
/// Parents are read before their children. What a process has used is counted in its own file while
/// it is there, and by its parent from the instant at which that one waits for it. So a sum over
/// files that are all still there when their turn comes counts everything exactly once: a child
/// that is there has not been taken over, now or when its parent was read.
pub(crate) fn read_again(root: &Root, known: &[Member]) -> Result<Option<Members>, MembersError> {
    let mut members = Vec::with_capacity(known.len());
    for (index, Member { pid, stat }) in known.iter().enumerate() {
        match Stat::of(root, *pid) {
            Ok(now) if now.started_ticks == stat.started_ticks || index == 0 => {
                members.push(Member {
                    pid: *pid,
                    stat: now,
                });
            }
            Ok(_) => return Ok(None),
            Err(error) if index == 0 => return Err(MembersError::of_first(error)),
            Err(error) if error.is_gone() => return Ok(None),
            Err(error) => return Err(MembersError::Unreadable(error)),
        }
    }
    Ok(Some(members))
}

/// Looks through all processes of the machine.
fn scan(root: &Root, first: u32) -> Result<Members, MembersError> {
    let stat = Stat::of(root, first).map_err(MembersError::of_first)?;
    let mut others = BTreeMap::new();
    for name in root.list("proc").map_err(MembersError::Unreadable)? {
        let Ok(pid) = name.parse::<u32>() else {
            continue;
        };
        // Processes of others come and go, and may be hidden; the server's are not.
        if pid != first
            && let Ok(stat) = Stat::of(root, pid)
        {
            others.insert(pid, stat);
        }
    }
    Ok(family(Member { pid: first, stat }, others))
}

/// Those of `others` that belong to `first`, parents first.
fn family(first: Member, mut others: BTreeMap<u32, Stat>) -> Members {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (pid, stat) in &others {
        children.entry(stat.parent).or_default().push(*pid);
    }
    // Members of the group whose parent is not in it start branches of their own.
    let leads = first.stat.group == first.pid;
    let grouped = others
        .iter()
        .filter(|(_, stat)| leads && stat.group == first.pid);
    let (branches, inner): (Vec<_>, Vec<_>) = grouped
        .map(|(pid, stat)| (*pid, others.get(&stat.parent)))
        .partition(|(_, parent)| parent.is_none_or(|parent| parent.group != first.pid));
    let mut branches: Vec<u32> = branches
        .into_iter()
        .chain(inner)
        .map(|(pid, _)| pid)
        .collect();
    branches.reverse();
    let mut members = vec![first];
    let mut looked_at = 0;
    loop {
        if let Some(parent) = members.get(looked_at).map(|member| member.pid) {
            looked_at += 1;
            for pid in children.get(&parent).into_iter().flatten() {
                if let Some(stat) = others.remove(pid) {
                    members.push(Member { pid: *pid, stat });
                }
            }
        } else if let Some(pid) = branches.pop() {
            if let Some(stat) = others.remove(&pid) {
                members.push(Member { pid, stat });
            }
        } else {
            return members;
        }
    }
}

/// Whether processor time has got lost between two readings: a process of the earlier one has ended
/// and none of its ancestors took its time over, because nobody waited for it or because its parent
/// had ended before.
pub(crate) fn lost_between(earlier: &[Member], now: &[Member]) -> bool {
    let before: BTreeMap<u32, &Stat> = earlier.iter().map(|m| (m.pid, &m.stat)).collect();
    let living: BTreeMap<u32, &Stat> = now.iter().map(|m| (m.pid, &m.stat)).collect();
    let lives = |pid: u32| match (before.get(&pid), living.get(&pid)) {
        (Some(then), Some(now)) => then.started_ticks == now.started_ticks,
        _ => false,
    };
    let mut owed: BTreeMap<u32, u64> = BTreeMap::new();
    for member in earlier.iter().filter(|member| !lives(member.pid)) {
        let mut heir = member.stat.parent;
        // As many steps as there are processes: a loop of parents is no family.
        for _ in earlier {
            match before.get(&heir) {
                Some(stat) if !lives(heir) => heir = stat.parent,
                _ => break,
            }
        }
        let Some(ticks) = member.stat.all_ticks().filter(|_| lives(heir)) else {
            return true;
        };
        let sum = owed.entry(heir).or_default();
        *sum = sum.saturating_add(ticks);
    }
    owed.iter().any(|(heir, ticks)| {
        let reaped = |of: &BTreeMap<u32, &Stat>| of.get(heir).and_then(|stat| stat.reaped_ticks());
        let taken = reaped(&living).zip(reaped(&before));
        taken.and_then(|(now, then)| now.checked_sub(then)) < Some(*ticks)
    })
}
