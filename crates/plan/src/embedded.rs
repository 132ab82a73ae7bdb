//! The workloads and presets that come with Prony.

use prony_model::Workload;

use crate::{Invalid, Preset, parse_preset, parse_workloads};

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

/// The files of the folder `sequences`, by name, in the order of their studies.
const SEQUENCES: [(&str, &str); 0] = [];

/// The presets that come with Prony. Their steps run the workloads that come with it, whatever
/// others have the same names.
///
/// # Errors
/// When a file of the build is wrong; a test keeps that from being released.
pub fn embedded_presets() -> Result<Vec<Preset>, Invalid> {
    let workloads = embedded_workloads()?;
    let read = |(name, text): (&str, &str)| parse_preset(name, text, &workloads);
    SEQUENCES.into_iter().map(read).collect()
}
