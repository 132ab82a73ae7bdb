//! Properties of the host that are read, each with its judgement. Nothing is measured over time.

mod clock;
mod counters;
mod frequency;
mod groups;
mod huge_pages;
mod hypervisor;
mod limits;
mod programs;
mod quota;
mod shared_cores;
mod space;
mod swap;

use std::path::Path;

use prony_model::Finding;
use prony_probe::Root;

pub(crate) use hypervisor::Taken;

use crate::neighbour::Sharing;
use crate::processor_time::Others;

/// Properties that are measured while the check runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    /// Time that the hypervisor took.
    pub(crate) taken: Option<Taken>,
    /// Time that other programs took.
    pub(crate) others: Option<Others>,
    /// Slowdown of a processor while its partner works.
    pub(crate) sharing: Option<Sharing>,
}

/// Reads every property. Those in `measured` are judged by it, and otherwise by what the kernel
/// has counted before.
pub(crate) fn read(root: &Root, cache: &Path, measured: &Measured) -> Vec<Finding> {
    vec![
        programs::judge(root, measured.others.as_ref()),
        hypervisor::judge(root, measured.taken.as_ref()),
        quota::judge(root),
        frequency::judge(root),
        shared_cores::judge(root, measured.sharing.as_ref()),
        groups::judge(root),
        swap::judge(root),
        huge_pages::judge(root),
        clock::judge(root),
        space::judge(root, cache),
        limits::judge(root),
        counters::judge(),
    ]
}
