//! The workloads and presets that come with Prony.

use prony_model::Workload;

use crate::{Definition, Invalid, Preset, parse_definitions, parse_preset};

/// Makes a table of files of a folder: their names and texts.
macro_rules! embedded {
    ($folder:literal: $($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../", $folder, "/", $name)))),*]
    };
}

/// The files of the folder `workloads`, by name.
const FILES: [(&str, &str); 13] = embedded! { "workloads":
    "point.toml" "in-list.toml" "range.toml" "aggregate.toml" "write.toml" "mixed.toml"
    "purchases.toml" "bank.toml" "wholesale.toml" "ycsb.toml" "family.toml" "shop.toml" "ddl.toml"
};

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
const SEQUENCES: [(&str, &str); 7] = embedded! { "sequences":
    "shootout-2011.toml" "heap-2014.toml" "pk-lookup-2016.toml" "smalldatum-2017.toml"
    "smalldatum-2021.toml" "smalldatum-2025.toml" "insert-benchmark-2025.toml"
};

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
