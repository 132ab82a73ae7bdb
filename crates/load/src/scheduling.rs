//! The scheduling policy of the generator's threads, and their processors.
//!
//! A thread with the normal policy often preempts the server's threads when an answer wakes it: it
//! then handles one answer each time that it runs. With the batch policy it waits until the running
//! thread blocks, and finds several answers. That costs less for each answer and leaves more time
//! to the server, above all if the kernel divides processors between scheduling groups: the
//! generator, alone in its group, is then entitled to run at any time.
//!
//! The policy stays normal in two cases. Operations that are due at their own time must begin then.
//! And with a few clients for each processor the next answer is seldom there already, so that the
//! generator only waits longer.

use std::{fs, io};

use preempt_rt::sched::{Pid, Scheduler, SchedulerParams, set_scheduler};
use prony_model::{ClientGroup, Groups, Scheduling};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::LoadError;

/// Clients for each processor of the generator above which threads have the batch policy.
const FEW_CLIENTS: usize = 4;

/// Usual policy of a generator that may use a number of processors: batch if every operation begins
/// when the last has ended and there are more than a few clients for each processor, else normal.
pub fn usual_scheduling(groups: &Groups<ClientGroup>, processors: usize) -> Scheduling {
    let clients: u64 = groups.iter().map(|group| u64::from(group.clients)).sum();
    let few = FEW_CLIENTS.saturating_mul(processors) as u64;
    if clients <= few || groups.iter().any(|group| group.pace.is_scheduled()) {
        Scheduling::Normal
    } else {
        Scheduling::Batch
    }
}

/// Gives the calling thread a policy, and with it all threads that it starts from now on. Returns
/// the policy in force: containers may refuse to change it, and real-time and idle policies are
/// the user's choice, which stays.
///
/// # Errors
/// If `/proc/thread-self/stat` can't be read.
pub fn schedule_as(wish: Scheduling) -> Result<Scheduling, LoadError> {
    let wish = match wish {
        Scheduling::Normal => Scheduler::SCHED_NORMAL,
        Scheduling::Batch => Scheduler::SCHED_BATCH,
        Scheduling::Other => return in_force(),
    };
    if in_force()? != Scheduling::Other {
        // The refusal shows in the policy that is read back.
        let _ = set_scheduler(Pid::current_thread(), wish, SchedulerParams { priority: 0 });
    }
    in_force()
}

/// Binds the calling thread to a processor.
///
/// # Errors
/// If the kernel refuses, as where this process may not use that processor.
pub(crate) fn bind_to(cpu: u16) -> Result<(), LoadError> {
    let mut mask = CpuSet::new();
    mask.set(usize::from(cpu));
    sched_setaffinity(None, &mask).map_err(LoadError::system("bind a thread to its processor"))
}

/// Policy of the calling thread.
fn in_force() -> Result<Scheduling, LoadError> {
    // Not through the C library: musl's does not ask the kernel.
    fs::read_to_string("/proc/thread-self/stat")
        .and_then(|stat| parse_policy(&stat).ok_or(io::ErrorKind::InvalidData.into()))
        .map_err(LoadError::system(
            "read the scheduling policy from /proc/thread-self/stat",
        ))
}

/// Field 41 of `/proc/PID/stat` (`proc_pid_stat(5)`). The second field is the program's name in
/// parentheses and may hold anything.
fn parse_policy(stat: &str) -> Option<Scheduling> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    Some(match after_name.split_ascii_whitespace().nth(38)? {
        "0" => Scheduling::Normal,
        "3" => Scheduling::Batch,
        _ => Scheduling::Other,
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use prony_model::{Pace, Spacing, Think, Thousandths};
    use prony_testkit as testkit;

    use super::*;

    #[test]
    fn only_many_clients_of_closed_loops_have_the_batch_policy() {
        let think = Think {
            mean_us: 1000,
            spacing: Spacing::Regular,
        };
        let open = Pace::Open {
            rate: Thousandths(10_000_000),
            spacing: Spacing::Regular,
        };
        let closed = Pace::default();
        for (own, beside, processors, expected) in [
            ((1, closed), None, 2, Scheduling::Normal),
            ((8, closed), None, 2, Scheduling::Normal),
            ((9, closed), None, 2, Scheduling::Batch),
            ((9, closed), None, 3, Scheduling::Normal),
            ((4, closed), Some((5, closed)), 2, Scheduling::Batch),
            ((512, open), None, 2, Scheduling::Normal),
            ((512, closed), Some((1, open)), 2, Scheduling::Normal),
            (
                (512, Pace::Closed { think: Some(think) }),
                None,
                2,
                Scheduling::Normal,
            ),
        ] {
            let group = |(clients, pace)| ClientGroup {
                pace,
                ..testkit::group(testkit::workload("point-query"), clients)
            };
            let mut groups = vec![group(own)];
            groups.extend(beside.map(group));
            let groups = Groups::try_from(groups).unwrap();
            assert_eq!(usual_scheduling(&groups, processors), expected, "{own:?}");
        }
    }

    #[test]
    fn started_threads_inherit_the_policy() {
        for wish in [Scheduling::Batch, Scheduling::Normal] {
            assert_eq!(schedule_as(wish).unwrap(), wish);
            let inherited = thread::spawn(|| in_force().unwrap()).join().unwrap();
            assert_eq!(inherited, wish);
        }
    }

    #[test]
    fn a_policy_of_the_user_stays() {
        let idle = Scheduler::SCHED_IDLE;
        set_scheduler(Pid::current_thread(), idle, SchedulerParams { priority: 0 }).unwrap();
        assert_eq!(schedule_as(Scheduling::Batch).unwrap(), Scheduling::Other);
    }

    #[test]
    fn the_policy_is_the_forty_first_field() {
        let stat = |policy| format!("7 (a) (b c) S {}{policy} 0 0", "0 ".repeat(37));
        assert_eq!(parse_policy(&stat("0")), Some(Scheduling::Normal));
        assert_eq!(parse_policy(&stat("3")), Some(Scheduling::Batch));
        assert_eq!(parse_policy(&stat("1")), Some(Scheduling::Other));
        assert_eq!(parse_policy("7 (a) S 1"), None);
    }
}
