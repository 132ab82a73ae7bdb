//! Scheduling groups: of this program, and of database servers that run here.

use std::collections::BTreeMap;

use prony_model::Finding;
use prony_model::FindingState::{Doubtful, Good, Unknown};
use prony_model::HostProperty::Groups;
use prony_probe::Root;

/// Programs of database servers, as the kernel names them: at most 15 letters.
const SERVERS: [&str; 7] = [
    "mysqld",
    "mysqld-debug",
    "mariadbd",
    "mariadbd-debug",
    "postgres",
    "mongod",
    "redis-server",
];

/// Judges the groups of servers that run here, as they are for external targets.
pub(super) fn judge(root: &Root) -> Finding {
    let servers = servers(root);
    let enabled = root.number("proc/sys/kernel/sched_autogroup_enabled");
    let own = match enabled {
        Some(1) => root.read("proc/self/autogroup").ok(),
        Some(_) => return Finding::new(Groups, Good, "groups by session are off"),
        // A kernel without them has no such file either.
        None if servers.is_empty() => {
            return Finding::new(Groups, Good, "this kernel groups no sessions");
        }
        None => None,
    };
    if servers.is_empty() {
        let seen = "groups by session are on; no database server that Prony knows runs here";
        return Finding::new(Groups, Good, seen);
    }
    let Some(own) = own.as_deref().and_then(name) else {
        let reason = "the group of this program can't be read (/proc/self/autogroup)";
        return Finding::new(Groups, Unknown, reason);
    };
    let mut others: BTreeMap<String, u32> = BTreeMap::new();
    let mut hidden = Vec::new();
    for (pid, program) in servers {
        match root
            .read(format!("proc/{pid}/autogroup"))
            .ok()
            .as_deref()
            .and_then(name)
        {
            Some(group) if group == own => {}
            Some(group) => {
                *others.entry(format!("{program} in {group}")).or_default() += 1;
            }
            None => hidden.push(format!("{program} ({pid})")),
        }
    }
    if !others.is_empty() {
        return Finding::new(
            Groups,
            Doubtful,
            format!("{}; this program in {own}", counted(&others)),
        )
        .effect("such a server and the load generator are scheduled as two groups: client time and latency are others than with a server that Prony starts")
        .remedy("compare external servers with external ones only, or turn the groups off: `sysctl kernel.sched_autogroup_enabled=0`");
    }
    if !hidden.is_empty() {
        let reason = format!("the group can't be read of {}", hidden.join(", "));
        return Finding::new(Groups, Unknown, reason);
    }
    Finding::new(
        Groups,
        Good,
        format!("servers that run here are in {own}, as this program"),
    )
}

/// Programs with the number of their processes, which may be threads of one server.
fn counted(programs: &BTreeMap<String, u32>) -> String {
    let each = programs.iter().map(|(program, count)| match count {
        1 => program.clone(),
        _ => format!("{count} × {program}"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The name of a group, from a line such as `/autogroup-33 nice 0`.
fn name(line: &str) -> Option<&str> {
    line.split_ascii_whitespace().next()?.strip_prefix('/')
}

/// Servers that run here, by process id.
fn servers(root: &Root) -> Vec<(u32, String)> {
    let pids = root.list("proc").unwrap_or_default();
    let mut servers: Vec<(u32, String)> = pids
        .iter()
        .filter_map(|pid| {
            let name = root.read(format!("proc/{pid}/comm")).ok()?;
            let name = name.trim();
            let is_server = SERVERS.contains(&name);
            Some((pid.parse().ok()?, is_server.then(|| name.to_owned())?))
        })
        .collect();
    servers.sort_unstable();
    servers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn a_server_in_another_group_raises_doubts() {
        let on = ("proc/sys/kernel/sched_autogroup_enabled", "1\n");
        let off = ("proc/sys/kernel/sched_autogroup_enabled", "0\n");
        let own = ("proc/self/autogroup", "/autogroup-33 nice 0\n");
        let server = ("proc/42/comm", "mysqld\n");
        let program = ("proc/43/comm", "bash\n");
        for (files, state, word) in [
            (vec![], Good, "no sessions"),
            (vec![server], Unknown, "/proc/self/autogroup"),
            (vec![off, server], Good, "off"),
            (vec![on, own, program], Good, "no database server"),
            (vec![on, own, server], Unknown, "mysqld (42)"),
            (
                vec![
                    on,
                    own,
                    server,
                    ("proc/42/autogroup", "/autogroup-7 nice 0\n"),
                ],
                Doubtful,
                "mysqld in autogroup-7; this program in autogroup-33",
            ),
            (
                vec![
                    on,
                    own,
                    server,
                    ("proc/42/autogroup", "/autogroup-33 nice 0\n"),
                ],
                Good,
                "autogroup-33",
            ),
        ] {
            let (_folder, root) = recorded(&files);
            let finding = judge(&root);
            assert_eq!(finding.state, state, "{files:?}");
            assert!(finding.seen.contains(word), "{}", finding.seen);
        }
    }
}
