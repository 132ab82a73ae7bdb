//! The server as `/proc` accounts for it: its processes, their threads, their memory.

use prony_model::{Gap, IDENTITY, Moment, Source};

use crate::clock::process_cpu_ns;
use crate::draft::{Draft, gap};
use crate::io;
use crate::members::{self, Member, Members, MembersError};
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
        let found = if many && moment == Moment::Period {
            None
        } else {
            let read = self.read(root, moment);
            read.map_err(|error| draft.gap(Source::Process, &error))
                .ok()
        };
        let Some((members, exact)) = found else {
            if moment == Moment::End {
                self.members.clear();
            }
            // Which server it is decides about differences of all that is read of it.
            let first = Stat::of(root, self.pid).ok();
            return put_identity(first.as_ref(), draft);
        };
        let began = |members: &Members| members.first().map(|first| first.stat.started_ticks);
        self.lost = match moment {
            Moment::Start => false,
            // Another server has lost nothing of this one; its identity tells them apart.
            _ if began(&members) != began(&self.members) => false,
            _ => self.lost || members::lost_between(&self.members, &members),
        };
        self.members = members;
        self.put(&exact, draft);
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

    /// Finds the processes and reads what each has in files and clocks of its own. If one of them ends meanwhile,
    /// its figures are in those of its parent, which was read before: all are read again.
    fn read(&self, root: &Root, moment: Moment) -> Result<(Members, Exact), MembersError> {
        for _ in 0..members::TRIES {
            let members = self.find_members(root, moment)?;
            if let Some(exact) = Exact::read(root, &members, self.has_io) {
                return Ok((members, exact));
            }
        }
        Err(MembersError::Restless)
    }

    /// Finds the processes; the whole machine is searched at the edges only.
    fn find_members(&self, root: &Root, moment: Moment) -> Result<Members, MembersError> {
        if moment == Moment::End || self.members.is_empty() {
            members::find(root, self.pid)
        } else {
            members::follow(root, &self.members)
        }
    }

    fn put(&self, exact: &Exact, draft: &mut Draft) {
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
        put("cpu_ns", exact.cpu_ns);
        match &exact.io {
            None => {}
            Some(Ok(figures)) => {
                for ((name, _), value) in io::FIGURES.into_iter().zip(*figures) {
                    put(name, Some(value));
                }
            }
            Some(Err(reason)) => draft.gap(Source::Process, reason),
        }
    }
}

/// Sums of what every process has in files and clocks of its own.
#[derive(Debug)]
struct Exact {
    /// Processor time, where there are clocks. Clock ticks of each of many processes would be cut off; here only
    /// those of reaped children are.
    cpu_ns: Option<u64>,
    /// All of the I/O, or the reason why it is unknown; `None` where it is not to be read.
    io: Option<Result<[u64; io::FIGURES.len()], String>>,
}

impl Exact {
    /// Reads processes that were found, parents before their children. `None` if one of them has ended since.
    fn read(root: &Root, members: &[Member], has_io: bool) -> Option<Self> {
        let clocks: Vec<_> = members
            .iter()
            .map(|m| process_cpu_ns(root, m.pid))
            .collect();
        if root.is_live() && clocks.iter().skip(1).any(Option::is_none) {
            return None;
        }
        let reaped = members.iter().map(|member| member.stat.reaped_ticks());
        let reaped = sum(reaped).and_then(ticks_to_ns);
        let io = if has_io {
            Some(read_io(root, members)?)
        } else {
            None
        };
        Some(Self {
            cpu_ns: sum(clocks.into_iter().chain([reaped])),
            io,
        })
    }
}

/// The I/O of all processes. `None` if one of them has ended.
fn read_io(root: &Root, members: &[Member]) -> Option<Result<[u64; io::FIGURES.len()], String>> {
    let mut total = [0; io::FIGURES.len()];
    for (index, member) in members.iter().enumerate() {
        let figures = match io::read(root, member.pid) {
            Ok(figures) => figures,
            Err(error) if index > 0 && error.is_gone() => return None,
            Err(error) => return Some(Err(error.to_string())),
        };
        let Some(sums) = add(total, figures) else {
            return Some(Err("the sums of /proc/PID/io are too large".to_owned()));
        };
        total = sums;
    }
    Some(Ok(total))
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
