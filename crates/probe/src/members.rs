//! The processes of a server.
//!
//! Most servers are one process. Those that were built for the library `LinuxThreads` (MySQL 4.1)
//! have one for each of their threads, and PostgreSQL has one for each connection.

use std::collections::{BTreeMap, BTreeSet};

use crate::root::{ProbeError, Root};
use crate::stat::Stat;

/// Number of times that the processes are listed again if one of them ends while they are read.
pub(crate) const TRIES: usize = 3;

/// One process of a server, as it was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    pub(crate) stat: Stat,
}

/// The processes of a server, parents before their children, the first one first.
pub(crate) type Members = Vec<Member>;

/// Reason why the processes of a server are unknown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MembersError {
    #[error("the server has ended: {0}")]
    Ended(ProbeError),
    #[error(transparent)]
    Unreadable(ProbeError),
    #[error("processes of the server kept ending while they were read")]
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
/// their own; a process whose parent has ended has no ancestor.)
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

/// Reads processes that are known, and children that these have got meanwhile as far as the kernel
/// lists them (`CONFIG_PROC_CHILDREN`). Processes that have ended are left out: what they had used
/// is their parents' by now. This takes no look at the rest of the machine.
pub(crate) fn follow(root: &Root, known: &[Member]) -> Result<Members, MembersError> {
    let mut known = known.to_vec();
    for _ in 0..TRIES {
        if let Some(mut members) = read_again(root, &known)? {
            // A server that was one process is taken to have stayed one until the step's end.
            if members.len() > 1 {
                add_children(root, &mut members);
            }
            return Ok(members);
        }
        let first = known.first().map(|member| member.pid);
        known.retain(|Member { pid, stat }| {
            let there = |now: Stat| now.started_ticks == stat.started_ticks;
            Some(*pid) == first || Stat::of(root, *pid).is_ok_and(there)
        });
    }
    Err(MembersError::Restless)
}

/// Adds the children that processes with children have got since these were looked for.
fn add_children(root: &Root, members: &mut Members) {
    let mut known: BTreeSet<u32> = members.iter().map(|member| member.pid).collect();
    let parents: BTreeSet<u32> = members.iter().map(|member| member.stat.parent).collect();
    for parent in parents.intersection(&known.clone()) {
        let listed = root.words(format!("proc/{parent}/task/{parent}/children"));
        for pid in listed.iter().filter_map(|word| word.parse().ok()) {
            // One that has ended already, or is another one's by now, counts with its parent.
            if known.insert(pid)
                && let Ok(stat) = Stat::of(root, pid)
                && stat.parent == *parent
            {
                members.push(Member { pid, stat });
            }
        }
    }
}

/// Reads processes that are known. `None` if one of them has ended, since then its parent, which
/// takes over its counts, has perhaps been read before that.
///
/// Parents are read before their children. What a process has used is counted in its own file while
/// it is there, and by its parent from the instant at which that one waits for it. So a sum over
/// files that are all still there when their turn comes counts everything exactly once: a child
/// that is there has not been taken over, now or when its parent was read.
fn read_again(root: &Root, known: &[Member]) -> Result<Option<Members>, MembersError> {
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

/// Returns `true` if processor time has got lost between two readings: a process of the earlier one
/// has ended and none of its ancestors took its time over, because no parent waited for it or
/// because its parent had ended before. A loss that left no trace is not found: a process that was
/// not there yet, or had not used a clock tick, at the earlier reading.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Process;

    /// Changes of a server's processes. Numbers choose one of those that live.
    #[derive(Debug, Clone)]
    enum Event {
        Works(usize, u64),
        Forks(usize),
        /// It ends, if it has no children, and its parent waits for it.
        Ends(usize),
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![
            (any::<usize>(), 1_u64..50).prop_map(|(who, ticks)| Event::Works(who, ticks)),
            any::<usize>().prop_map(Event::Forks),
            any::<usize>().prop_map(Event::Ends),
        ];
        proptest::collection::vec(event, 0..40)
    }

    /// The processes that live, and the ticks that all of them ever used.
    struct Server {
        living: Vec<Process>,
        next: u32,
        used: u64,
    }

    impl Server {
        fn new() -> Self {
            Self {
                living: vec![Process::new(100)],
                next: 101,
                used: 0,
            }
        }

        fn happen(&mut self, event: &Event) {
            let (Event::Works(who, _) | Event::Forks(who) | Event::Ends(who)) = event;
            let who = who % self.living.len();
            let pid = self.living[who].pid;
            match event {
                Event::Works(_, ticks) => {
                    self.living[who].user += ticks;
                    self.used += ticks;
                }
                Event::Forks(_) => {
                    let mut child = self.living[who].child(self.next);
                    // Every other one leads a group of its own.
                    if self.next.is_multiple_of(2) {
                        child.group = child.pid;
                    }
                    self.living.push(child);
                    self.next += 1;
                }
                Event::Ends(_) => {
                    if who > 0 && !self.living.iter().any(|other| other.parent == pid) {
                        let ended = self.living.remove(who);
                        let parent = self.living.iter_mut().find(|p| p.pid == ended.parent);
                        parent.unwrap().reaped += ended.user + ended.reaped;
                    }
                }
            }
        }

        fn happen_all(&mut self, events: &[Event]) {
            for event in events {
                self.happen(event);
            }
        }

        fn members(&self) -> Members {
            let stat = |process: &Process| Stat::parse(&process.stat()).unwrap();
            let others = self.living[1..].iter().map(|p| (p.pid, stat(p))).collect();
            let first = &self.living[0];
            let first = Member {
                pid: first.pid,
                stat: stat(first),
            };
            family(first, others)
        }
    }

    fn ticks(members: &Members) -> u64 {
        let all = members.iter().map(|member| member.stat.all_ticks());
        all.sum::<Option<u64>>().unwrap()
    }

    proptest! {
        /// However processes come, work and go: as long as each is waited for, the sum over those
        /// that live is what all ever used, and parents come before their children.
        #[test]
        fn nothing_is_counted_twice_and_nothing_gets_lost(before in events(), after in events()) {
            let mut server = Server::new();
            server.happen_all(&before);
            let earlier = server.members();
            prop_assert_eq!(ticks(&earlier), server.used);
            server.happen_all(&after);
            let now = server.members();
            prop_assert_eq!(ticks(&now), server.used);
            prop_assert_eq!(now.len(), server.living.len());
            prop_assert!(!lost_between(&earlier, &now));
            for (index, member) in now.iter().enumerate().skip(1) {
                let parent = now.iter().position(|other| other.pid == member.stat.parent);
                prop_assert!(parent < Some(index));
            }
        }

        /// A process that used something and is gone without having been waited for is missed.
        #[test]
        fn what_nobody_waited_for_is_missed(events in events(), who in any::<usize>()) {
            let mut server = Server::new();
            server.happen(&Event::Forks(0));
            server.happen_all(&events);
            server.happen(&Event::Forks(0));
            let who = 1 + who % (server.living.len() - 1);
            server.living[who].user += 1;
            let earlier = server.members();
            server.living.remove(who);
            prop_assert!(lost_between(&earlier, &server.members()));
        }
    }
}
