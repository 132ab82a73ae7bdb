//! The workloads and presets that come with Prony.

use prony_model::Workload;

use crate::{Definition, Invalid, Preset, parse_definitions, parse_preset};

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
    let definitions = embedded_definitions()?;
    Ok(definitions
        .into_iter()
        .map(|definition| definition.workload)
        .collect())
}

/// The same with their texts.
///
/// # Errors
/// As [`embedded_workloads`].
pub fn embedded_definitions() -> Result<Vec<Definition>, Invalid> {
    let mut definitions = Vec::new();
    for (name, text) in FILES {
        definitions.extend(parse_definitions(name, text)?);
    }
    Ok(definitions)
}

/// The files of the folder `sequences`, by name, in the order of their studies.
const SEQUENCES: [(&str, &str); 6] = [
    (
        "shootout-2011.toml",
        include_str!("../../../sequences/shootout-2011.toml"),
    ),
    (
        "heap-2014.toml",
        include_str!("../../../sequences/heap-2014.toml"),
    ),
    (
        "pk-lookup-2016.toml",
        include_str!("../../../sequences/pk-lookup-2016.toml"),
    ),
    (
        "smalldatum-2017.toml",
        include_str!("../../../sequences/smalldatum-2017.toml"),
    ),
    (
        "smalldatum-2021.toml",
        include_str!("../../../sequences/smalldatum-2021.toml"),
    ),
    (
        "smalldatum-2025.toml",
        include_str!("../../../sequences/smalldatum-2025.toml"),
    ),
];

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
