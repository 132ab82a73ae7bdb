//! Transparent huge pages.

use prony_model::Finding;
use prony_model::FindingState::{Doubtful, Good, Unknown};
use prony_model::HostProperty::HugePages;
use prony_probe::{HostFacts, Root};

/// Judges the setting of the machine.
pub(super) fn judge(root: &Root) -> Finding {
    match HostFacts::read(root).transparent_huge_pages.as_deref() {
        Some("always") => Finding::new(HugePages, Doubtful, "always")
            .effect("a server gets them when free memory is in one piece: one start does, and another does not")
            .remedy("`huge_pages = \"never\"` in the experiment, or `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`"),
        Some(other) => Finding::new(HugePages, Good, other),
        None => Finding::new(
            HugePages,
            Unknown,
            "/sys/kernel/mm/transparent_hugepage/enabled can't be read",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recorded;

    #[test]
    fn pages_by_request_are_good() {
        let enabled = "sys/kernel/mm/transparent_hugepage/enabled";
        for (files, state) in [
            (vec![(enabled, "[always] madvise never\n")], Doubtful),
            (vec![(enabled, "always [madvise] never\n")], Good),
            (vec![(enabled, "always madvise [never]\n")], Good),
            (vec![], Unknown),
        ] {
            let (_folder, root) = recorded(&files);
            assert_eq!(judge(&root).state, state, "{files:?}");
        }
    }
}
