//! Free disk in the cache folder, and free memory.

use std::path::Path;

use prony_model::Finding;
use prony_model::FindingState::{Bad, Doubtful, Good, Unknown};
use prony_model::HostProperty::Space;
use prony_probe::Root;
use rustix::fs::statvfs;

use crate::words::{bytes, memory};

const GIB: u64 = 1 << 30;

/// Judges the scarcer of both.
pub(super) fn judge(root: &Root, cache: &Path) -> Finding {
    let meminfo = root.read("proc/meminfo").ok();
    let free_memory = meminfo.and_then(|text| memory(&text, "MemAvailable"));
    of(free_disk(cache), free_memory, cache)
}

/// Free bytes for this user in a folder, or in the folder in which it will be made.
fn free_disk(folder: &Path) -> Option<u64> {
    let facts = folder.ancestors().find_map(|folder| statvfs(folder).ok())?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

fn of(disk: Option<u64>, memory: Option<u64>, cache: &Path) -> Finding {
    let disk_state = match disk {
        None => Unknown,
        Some(free) if free < GIB => Bad,
        Some(free) if free < 5 * GIB => Doubtful,
        Some(_) => Good,
    };
    let memory_state = match memory {
        None => Unknown,
        Some(free) if free < GIB / 2 => Bad,
        Some(free) if free < 2 * GIB => Doubtful,
        Some(_) => Good,
    };
    let state = disk_state.min(memory_state);
    let shown = |free: Option<u64>| free.map_or_else(|| "unknown".to_owned(), bytes);
    let seen = format!(
        "disk {} (in {}), memory {}",
        shown(disk),
        cache.display(),
        shown(memory)
    );
    let mut finding = Finding::new(Space, state, seen);
    for (name, free) in [("disk_free_mib", disk), ("memory_free_mib", memory)] {
        if let Some(free) = free {
            finding = finding.figure(name, (free >> 20) as f64);
        }
    }
    if disk_state.min(memory_state) >= Unknown {
        return finding;
    }
    finding
        .effect("a run ends early without disk; with little memory the kernel drops cached pages, of one target and not of another")
        .remedy("`prony images clear --all`, XDG_CACHE_HOME on a larger disk, and fewer programs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn the_scarcer_one_decides() {
        let folder = Path::new("/cache");
        for (disk, memory, state) in [
            (Some(50 * GIB), Some(8 * GIB), Good),
            (Some(2 * GIB), Some(8 * GIB), Doubtful),
            (Some(50 * GIB), Some(GIB / 4), Bad),
            (Some(50 * GIB), None, Unknown),
            (Some(GIB / 2), None, Bad),
        ] {
            assert_eq!(of(disk, memory, folder).state, state, "{disk:?} {memory:?}");
        }
    }

    #[test]
    fn a_folder_that_will_be_made_has_the_space_around_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_disk(&folder.path().join("a/b")).is_some());
        assert_eq!(judge(&recorded(&[]).1, folder.path()).property, Space);
    }
}
