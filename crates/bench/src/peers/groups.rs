//! Scheduling groups: servers in the group of the contestants, and in another one.

use std::fs;

use clap::ValueEnum;
use prony_model::SchedulingGroup;
use prony_probe::{Root, scheduling_group};
use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use serde::{Deserialize, Serialize};

use super::server::Server;

const REMEDY: &str = "sessions have groups of their own only if kernel.sched_autogroup_enabled is \
                      1 and no control group has the processor controller; measure with `--group \
                      own`";

/// The server's scheduling group, as the contestants see it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Group {
    /// That of the contestants, as under `prony run`.
    #[default]
    Own,
    /// Another one, as if the server had been started from another terminal.
    Other,
}

impl Group {
    pub(super) const ALL: [Self; 2] = [Self::Own, Self::Other];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Other => "other",
        }
    }

    /// Words for a heading.
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Own => "",
            Self::Other => ", server in another scheduling group",
        }
    }
}

/// A server for each group that is measured.
pub(super) struct Servers {
    own: Option<Server>,
    other: Option<Server>,
}

impl Servers {
    /// Starts the servers with `start`. This process, whose children all contestants are, is in
    /// another session than one of them afterwards.
    pub(super) fn start(groups: &[Group], start: impl Fn() -> Server) -> Result<Self, String> {
        if groups.contains(&Group::Other) && !autogroups_are_on() {
            return Err(format!(
                "failed to separate server and contestants: {REMEDY}"
            ));
        }
        let other = groups.contains(&Group::Other).then(|| {
            // A session is a scheduling group if autogroups are on; the processes that are there
            // already stay in theirs.
            let server = start();
            change_group().map(|()| server)
        });
        let other = other.transpose()?;
        let own = groups.contains(&Group::Own).then(start);
        let servers = Self { own, other };
        servers.check()?;
        Ok(servers)
    }

    /// Checks that the servers are in the groups that the figures are said to be of.
    fn check(&self) -> Result<(), String> {
        let own = group_of(std::process::id())?;
        for (server, same) in [(&self.own, true), (&self.other, false)] {
            let Some(server) = server else { continue };
            let group = group_of(server.pid())?;
            if (group == own) != same {
                return Err(format!(
                    "failed to separate server and contestants: the server is in {group}, the \
                     contestants are in {own}; {REMEDY}"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn of(&mut self, group: Group) -> &mut Server {
        let server = match group {
            Group::Own => &mut self.own,
            Group::Other => &mut self.other,
        };
        server.as_mut().unwrap()
    }

    pub(super) fn stop(self) {
        for server in [self.own, self.other].into_iter().flatten() {
            server.stop();
        }
    }
}

/// Makes this process the leader of a new session. A terminal can't end it then: the end of the
/// process that started it does.
fn change_group() -> Result<(), String> {
    set_parent_process_death_signal(Some(Signal::TERM)).unwrap();
    setsid().map(drop).map_err(|error| {
        format!(
            "failed to leave the session of the server: {error}; a process that leads its group \
             can't, so start this from a script or by `cargo xtask bench-peers`"
        )
    })
}

fn group_of(pid: u32) -> Result<SchedulingGroup, String> {
    scheduling_group(&Root::live(), pid).map_err(|error| format!("failed to {error}"))
}

fn autogroups_are_on() -> bool {
    let setting = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
    setting.is_ok_and(|setting| setting.trim() == "1")
}
