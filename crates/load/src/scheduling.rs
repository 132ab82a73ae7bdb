//! The scheduling policy of the generator's threads.
//!
//! A thread with the normal policy often preempts the server's threads when an answer wakes it: it
//! then handles one answer for each time that it runs. With the batch policy it waits until the
//! running thread blocks, and finds several answers. That costs less for each answer and leaves
//! more time to the server, above all where the kernel divides processors between scheduling
//! groups, in which the generator is alone and so is always entitled to run. An operation that is
//! due at its own time must begin then, not later: there the policy stays normal.

use std::{fs, io};

use preempt_rt::sched::{Pid, Scheduler, SchedulerParams, set_scheduler};
use prony_model::{ClientGroup, Groups, Scheduling};

use crate::LoadError;

/// Usual policy: batch where every operation begins when the last has ended, else normal.
pub(crate) fn usual_scheduling(groups: &Groups<ClientGroup>) -> Scheduling {
    if groups.iter().any(|group| group.pace.is_scheduled()) {
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

    use super::*;

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
