//! The server as `/proc` accounts for it: its processes, their threads, their memory.

use prony_model::{Gap, IDENTITY, Moment, Source};

use crate::clock::process_cpu_ns;
use crate::draft::Draft;
use crate::io::Io;
use crate::members::{self, Members, MembersError};
use crate::memory::Memory;
use crate::root::{ProbeError, Root, ticks_to_ns};
use crate::stat::Stat;
use crate::text::sum;
use crate::threads::Threads;

/// Up to how many processes are read within the measured time. Reading one takes some 20 µs, so
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
        let denied = Io::of(root, pid).err().filter(ProbeError::is_denied);
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
            let found = self.look(root, moment);
            found.unwrap_or_else(|error| {
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

    /// The whole machine is looked through at the edges only.
    fn look(&self, root: &Root, moment: Moment) -> Result<Members, MembersError> {
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
            draft.gap(
                Source::Process,
                "a process of the server ended and no other one took over what it had used",
            );
            return;
        }
        let ticks =
            |of: fn(&members::Member) -> [u64; 2]| sum(members.iter().flat_map(of).map(Some));
        let mut put = |name, value| draft.put_known(Source::Process, name, value);
        put(
            "user_ns",
            ticks(|m| [m.stat.user_ticks, m.stat.reaped_user_ticks]).and_then(ticks_to_ns),
        );
        put(
            "system_ns",
            ticks(|m| [m.stat.system_ticks, m.stat.reaped_system_ticks]).and_then(ticks_to_ns),
        );
        put(
            "minor_faults",
            ticks(|m| [m.stat.minor_faults, m.stat.reaped_minor_faults]),
        );
        put(
            "major_faults",
            ticks(|m| [m.stat.major_faults, m.stat.reaped_major_faults]),
        );
        if let [only] = &members[..] {
            let reaped = only.stat.reaped_ticks().and_then(ticks_to_ns);
            put("cpu_ns", sum([process_cpu_ns(root, only.pid), reaped]));
        }
        if self.has_io {
            self.put_io(root, draft);
        }
    }

    /// I/O of all processes; all of it, or none.
    fn put_io(&self, root: &Root, draft: &mut Draft) {
        let mut total = Some(Io::default());
        for member in &self.members {
            match Io::of(root, member.pid) {
                Ok(io) => total = total.and_then(|total| total.plus(io)),
                Err(error) => return draft.gap(Source::Process, &error),
            }
        }
        let Some(io) = total else {
            return draft.gap(Source::Process, "sums of /proc/PID/io are more than can be");
        };
        for (name, value) in [
            ("read_calls", io.read_calls),
            ("write_calls", io.write_calls),
            ("read_bytes", io.read_bytes),
            ("written_bytes", io.written_bytes),
            ("read_chars", io.read_chars),
            ("written_chars", io.written_chars),
        ] {
            draft.put(Source::Process, name, value);
        }
    }
}

/// Absence of values that the kernel hides from this user.
fn io_denied(error: &ProbeError) -> Gap {
    Gap {
        source: Source::Process,
        reason: format!(
            "{error}: the kernel shows what a process reads and writes to its own user only; run \
             Prony as the user that the server runs as"
        ),
    }
}

fn put_identity(first: Option<&Stat>, draft: &mut Draft) {
    if let Some(first) = first {
        draft.values.insert(IDENTITY.clone(), first.started_ticks);
    }
}

#[cfg(test)]
mod tests;
