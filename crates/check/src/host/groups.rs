//! Scheduling groups: of this program, and of database servers that run here.

use std::collections::BTreeMap;

use prony_model::Finding;
use prony_model::FindingState::{Doubtful, Good, Unknown};
use prony_model::HostProperty::Groups;
use prony_probe::{Root, scheduling_group};

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
    if servers.is_empty() {
        return Finding::new(
            Groups,
            Good,
            "no database server that Prony knows runs here",
        );
    }
    let own = match scheduling_group(root, std::process::id()) {
        Ok(own) => own,
        Err(error) => {
            let reason = format!("the group of this program is unknown: failed to {error}");
            return Finding::new(Groups, Unknown, reason);
        }
    };
    let mut others: BTreeMap<String, u32> = BTreeMap::new();
    let mut hidden = Vec::new();
    for (pid, program) in servers {
        match scheduling_group(root, pid) {
            Ok(group) if group == own => {}
            Ok(group) => *others.entry(format!("{program} in {group}")).or_default() += 1,
            Err(_) => hidden.push(format!("{program} ({pid})")),
        }
    }
    if !others.is_empty() {
        return Finding::new(
            Groups,
            Doubtful,
            format!("{}; this program in {own}", counted(&others)),
        )
        .effect("such a server and the load generator are scheduled as two groups: client time and latency are others than with a server that Prony starts")
        .remedy("compare external servers with external ones only; for groups of sessions: `sysctl kernel.sched_autogroup_enabled=0`");
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
        let own = format!("proc/{}", std::process::id());
        let [own_cgroup, own_autogroup] =
            ["cgroup", "autogroup"].map(|file| format!("{own}/{file}"));
        let ours = [
            ("proc/sys/kernel/sched_autogroup_enabled", "1\n"),
            ("proc/self/mountinfo", ""),
            (own_cgroup.as_str(), "0::/\n"),
            (own_autogroup.as_str(), "/autogroup-33 nice 0\n"),
        ];
        let server = [("proc/42/comm", "mysqld\n"), ("proc/42/cgroup", "0::/\n")];
        let in_group = |line| [("proc/42/autogroup", line)];
        for (files, state, word) in [
            (
                vec![&ours[..], &[("proc/43/comm", "bash\n")]],
                Good,
                "no database server",
            ),
            (vec![&server[..]], Unknown, "this program is unknown"),
            (vec![&ours, &server[..1]], Unknown, "mysqld (42)"),
            (
                vec![&ours, &server, &in_group("/autogroup-7 nice 0\n")],
                Doubtful,
                "mysqld in autogroup 7; this program in autogroup 33",
            ),
            (
                vec![&ours, &server, &in_group("/autogroup-33 nice 0\n")],
                Good,
                "autogroup 33",
            ),
        ] {
            let (_folder, root) = recorded(&files.concat());
            let finding = judge(&root);
            assert_eq!(finding.state, state, "{files:?}");
            assert!(finding.seen.contains(word), "{}", finding.seen);
        }
    }
}
