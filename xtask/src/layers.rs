//! The rule of the architecture: a crate depends on lower layers only.

use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Every crate of the workspace with its layer. `ARCHITECTURE.md` describes them.
const LAYERS: [(&str, u8); 17] = [
    ("prony-model", 0),
    ("prony-stats", 0),
    ("prony-wire", 0),
    ("prony-client", 1),
    ("prony-equality", 1),
    ("prony-host", 1),
    ("prony-null", 1),
    ("prony-plan", 1),
    ("prony-store", 1),
    ("prony-servers", 2),
    ("prony-load", 2),
    ("prony-probe", 2),
    ("prony-lab", 3),
    ("prony-report", 3),
    ("prony-bench", 3),
    ("prony", 4),
    ("xtask", 5),
];

/// Edges that the layers would allow and the design does not.
const FORBIDDEN: [(&str, &str); 3] = [
    // Statistics and protocol know no domain word.
    ("prony-stats", "prony-model"),
    ("prony-wire", "prony-model"),
    // A report is a pure function of the result file.
    ("prony-report", "prony-servers"),
];

/// Compares the workspace's dependencies with the layers. Returns one line per violation.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        let Some(layer) = layer(name) else {
            findings.push(format!(
                "{name}: not in the list of layers in xtask/src/layers.rs"
            ));
            continue;
        };
        let normal = package
            .dependencies
            .iter()
            .filter(|d| d.kind != DependencyKind::Development);
        for dependency in normal {
            if let Some(other) = self::layer(&dependency.name) {
                let forbidden = FORBIDDEN.contains(&(name, dependency.name.as_str()));
                if other >= layer || forbidden {
                    findings.push(format!("{name} must not depend on {}", dependency.name));
                }
            }
        }
    }
    Ok(findings)
}

fn layer(name: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, layer)| *layer)
}
