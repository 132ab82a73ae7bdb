//! The server as `/proc` accounts for it: its processes, their threads, their memory.

use prony_model::{Gap, IDENTITY, Moment, Source};

use crate::clock::process_cpu_ns;
use crate::draft::{Draft, gap};
use crate::io;
use crate::members::{self, Members, MembersError};
use crate::memory::Memory;
use crate::root::{ProbeError, Root, ticks_to_ns};
use crate::stat::Stat;
use crate::text::{add, sum};
use crate::threads::Threads;

/// Most processes that are read within the measured time. Reading one takes about 20 µs, so
/// that these take 0.2 % of a processor at one sample per second.
const PERIOD_PROCESSES_MAX: usize = 100;

/// Reads a server's processes.
#[derive(Debug)]
pub(crate) struct Server {
    pid: u32,
    /// As they were read last.
    members: Members,
    /// `true` if processor time has got lost since the step's start.
    lost: bool,
    has_io: bool,
    threads: Threads,
    memory: Memory,
}

impl Server {
    /// Finds out what can be read of the server whose first process is `pid`.
    pub(crate) fn new(root: &Root, pid: u32, absences: &mut Vec<Gap>) -> Self {
        // What fails for another reason may work when its turn comes, or leaves a gap then.
        let denied = io::read(root, pid).err().filter(ProbeError::is_denied);
        absences.extend(denied.as_ref().map(io_denied));
        Self {
            pid,
            members: Vec::new(),
            lost: false,
            has_io: denied.is_none(),
            threads: Threads::new(root, pid, absences),
            memory: Memory::new(root, pid, absences),
        }
    }

    /// Reads what is exact and, unless there are many processes, cheap.
    pub(crate) fn sample(&mut self, root: &Root, moment: Moment, draft: &mut Draft) {
        let many = self.members.len() > PERIOD_PROCESSES_MAX;
        let members = if many && moment == Moment::Period {
            Vec::new()
        } else {
            self.find_members(root, moment).unwrap_or_else(|error| {
                draft.gap(Source::Process, &error);
                Vec::new()
            })
        };
        if members.is_empty() {
            if moment == Moment::End {
                self.members = members;
            }
            // Which server it is decides about differences of all that is read of it.
            let first = Stat::of(root, self.pid).ok();
            return put_identity(first.as_ref(), draft);
        }
        let began = |members: &Members| members.first().map(|first| first.stat.started_ticks);
        self.lost = match moment {
            Moment::Start => false,
            // Another server has lost nothing of this one; its identity tells them apart.
            _ if began(&members) != began(&self.members) => false,
            _ => self.lost || members::lost_between(&self.members, &members),
        };
        self.members = members;
        self.put(root, draft);
        Memory::sample(&self.members, draft);
    }

    /// Reads what is costly, at an edge of the measured time: at its start before the rest, and at
    /// its end after it.
    pub(crate) fn take_stock(&mut self, root: &Root, moment: Moment, draft: &mut Draft) {
        if moment == Moment::Start {
            // Why there are none will be said when they are read.
            self.members = members::find(root, self.pid).unwrap_or_default();
        }
        self.threads.sample(root, &self.members, moment, draft);
        self.memory.sample_shares(root, &self.members, draft);
    }

    /// Finds the processes; the whole machine is searched at the edges only.
    fn find_members(&self, root: &Root, moment: Moment) -> Result<Members, MembersError> {
        if moment == Moment::End || self.members.is_empty() {
            members::find(root, self.pid)
        } else {
            members::follow(root, &self.members)
        }
    }

    fn put(&self, root: &Root, draft: &mut Draft) {
        let members = &self.members;
        put_identity(members.first().map(|first| &first.stat), draft);
        if self.lost {
            let reason = "a process of the server ended and no other one took over its usage";
            return draft.gap(Source::Process, reason);
        }
        let total = |of: fn(&Stat) -> [u64; 2]| sum(members.iter().flat_map(|m| of(&m.stat)));
        let mut put = |name, value: Option<u64>| draft.put(Source::Process, name, value);
        put(
            "user_ns",
            total(|stat| stat.user_ticks).and_then(ticks_to_ns),
        );
        put(
            "system_ns",
            total(|stat| stat.system_ticks).and_then(ticks_to_ns),
        );
        put("minor_faults", total(|stat| stat.minor_faults));
        put("major_faults", total(|stat| stat.major_faults));
        if let [only] = &members[..] {
            let reaped = only.stat.reaped_ticks().and_then(ticks_to_ns);
            put("cpu_ns", sum([process_cpu_ns(root, only.pid), reaped]));
        }
        if self.has_io {
            self.put_io(root, draft);
        }
    }

    /// Notes the I/O of all processes; all of it, or none.
    fn put_io(&self, root: &Root, draft: &mut Draft) {
        let mut total = [0; io::FIGURES.len()];
        for member in &self.members {
            let figures = match io::read(root, member.pid) {
                Ok(figures) => figures,
                Err(error) => return draft.gap(Source::Process, &error),
            };
            let Some(sums) = add(total, figures) else {
                return draft.gap(Source::Process, "the sums of /proc/PID/io are too large");
            };
            total = sums;
        }
        for ((name, _), value) in io::FIGURES.into_iter().zip(total) {
            draft.put(Source::Process, name, value);
        }
    }
}

/// Absence of values that the kernel hides from this user.
fn io_denied(error: &ProbeError) -> Gap {
    let reason = format!(
        "{error}: only its own user may read the I/O of a process; run Prony as the user of the server"
    );
    gap(Source::Process, reason)
}

fn put_identity(first: Option<&Stat>, draft: &mut Draft) {
    if let Some(first) = first {
        draft.values.insert(IDENTITY.clone(), first.started_ticks);
    }
}

#[cfg(test)]
mod tests;
