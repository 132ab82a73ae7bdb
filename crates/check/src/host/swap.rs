//! Memory on disk.

use prony_model::Finding;
use prony_model::FindingState::{Doubtful, Good, Unknown};
use prony_model::HostProperty::Swap;
use prony_probe::Root;

use crate::words::{bytes, memory};

/// Judges used swap space and the kernel's wish to use more.
pub(super) fn judge(root: &Root) -> Finding {
    let meminfo = root.read("proc/meminfo").unwrap_or_default();
    let sizes = memory(&meminfo, "SwapTotal").zip(memory(&meminfo, "SwapFree"));
    let Some((total, free)) = sizes else {
        return Finding::new(Swap, Unknown, "/proc/meminfo can't be read");
    };
    if total == 0 {
        return Finding::new(Swap, Good, "none");
    }
    let used = total.saturating_sub(free);
    let swappiness = root.number("proc/sys/vm/swappiness");
    let wish = swappiness.map_or_else(String::new, |wish| format!(", vm.swappiness is {wish}"));
    let seen = format!("{} of {} used{wish}", bytes(used), bytes(total));
    let finding =
        |state| Finding::new(Swap, state, seen.clone()).figure("used_mib", (used >> 20) as f64);
    // A few old pages of sleeping programs do no harm.
    if used < 64 << 20 && swappiness.is_some_and(|wish| wish <= 10) {
        return finding(Good);
    }
    finding(Doubtful)
        .effect("pages of a server can be on disk, of one start and not of another")
        .remedy("`swapoff -a` while measuring, or `sysctl vm.swappiness=1`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn used_space_and_the_wish_to_use_it_decide() {
        let meminfo = "proc/meminfo";
        let swappiness = "proc/sys/vm/swappiness";
        let free = (meminfo, "SwapTotal: 1000000 kB\nSwapFree: 999000 kB\n");
        let used = (meminfo, "SwapTotal: 1000000 kB\nSwapFree: 1000 kB\n");
        for (files, state) in [
            (vec![], Unknown),
            (vec![(meminfo, "SwapTotal: 0 kB\nSwapFree: 0 kB\n")], Good),
            (vec![free, (swappiness, "1\n")], Good),
            (vec![free, (swappiness, "60\n")], Doubtful),
            (vec![used, (swappiness, "1\n")], Doubtful),
        ] {
            let (_folder, root) = recorded(&files);
            assert_eq!(judge(&root).state, state, "{files:?}");
        }
    }
}
