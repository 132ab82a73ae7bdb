//! The workloads that come with Prony.

use prony_model::Workload;

use crate::{Invalid, parse_workloads};

/// The files of the folder `workloads`, by name.
const FILES: [(&str, &str); 6] = [
    ("point.toml", include_str!("../../../workloads/point.toml")),
    (
        "in-list.toml",
        include_str!("../../../workloads/in-list.toml"),
    ),
    ("range.toml", include_str!("../../../workloads/range.toml")),
    (
        "aggregate.toml",
        include_str!("../../../workloads/aggregate.toml"),
    ),
    ("write.toml", include_str!("../../../workloads/write.toml")),
    ("mixed.toml", include_str!("../../../workloads/mixed.toml")),
];

/// The workloads that come with Prony, read by the same reader as a user's.
///
/// # Errors
/// When a file of the build is wrong; a test keeps that from being released.
pub fn embedded_workloads() -> Result<Vec<Workload>, Invalid> {
    let mut workloads = Vec::new();
    for (name, text) in FILES {
        workloads.extend(parse_workloads(name, text)?);
    }
    Ok(workloads)
}
