//! Limits of files and processes.

use prony_model::Finding;
use prony_model::FindingState::{Bad, Doubtful, Good};
use prony_model::HostProperty::Limits;
use prony_probe::Root;
use rustix::process::{Resource, getrlimit};

/// Files of a thousand connections and their tables on both sides.
const FILES_ENOUGH: u64 = 5_000;
/// Files of a server with its smallest caches, and of a few connections.
const FILES_LEAST: u64 = 1_024;
/// Threads of a server with a thousand connections, and of the programs around it.
const PROCESSES_ENOUGH: u64 = 2_000;

/// Judges the limits that nobody but the administrator can raise.
pub(super) fn judge(root: &Root) -> Finding {
    let files = getrlimit(Resource::Nofile).maximum;
    let processes = getrlimit(Resource::Nproc).maximum;
    let group = ["sys/fs/cgroup/pids.max", "sys/fs/cgroup/pids/pids.max"]
        .iter()
        .find_map(|path| root.number(path));
    of(files, processes.into_iter().chain(group).min())
}

/// `None` stands for no limit.
fn of(files: Option<u64>, processes: Option<u64>) -> Finding {
    let files_left = files.unwrap_or(u64::MAX);
    let processes_left = processes.unwrap_or(u64::MAX);
    let state = match (files_left, processes_left) {
        (..FILES_LEAST, _) => Bad,
        (..FILES_ENOUGH, _) | (_, ..PROCESSES_ENOUGH) => Doubtful,
        _ => Good,
    };
    let shown =
        |limit: Option<u64>| limit.map_or_else(|| "any number of".to_owned(), |n| n.to_string());
    let seen = format!("{} open files, {} threads", shown(files), shown(processes));
    let finding = Finding::new(Limits, state, seen);
    if state == Good {
        return finding;
    }
    finding
        .effect("many connections fail, and a server makes its table cache smaller without a word, each version by a rule of its own")
        .remedy("`ulimit -Hn 65536` and `ulimit -Hu unlimited` as root, or limits.conf, `LimitNOFILE=`, `docker run --ulimit --pids-limit`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn few_files_and_few_threads_are_found() {
        for (files, processes, state) in [
            (None, None, Good),
            (Some(1 << 20), Some(30_000), Good),
            (Some(4_096), None, Doubtful),
            (Some(1 << 20), Some(500), Doubtful),
            (Some(256), None, Bad),
        ] {
            assert_eq!(of(files, processes).state, state, "{files:?} {processes:?}");
        }
        let (_folder, root) = recorded(&[("sys/fs/cgroup/pids.max", "100\n")]);
        assert!(judge(&root).state <= Doubtful);
    }
}
