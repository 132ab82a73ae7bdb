//! The rule of the architecture: a crate depends on lower layers only.

use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Only tests may depend on it: it unwraps, and its values are made up.
const TESTKIT: &str = "prony-testkit";

/// Every crate of the workspace with its layer. `ARCHITECTURE.md` describes them.
const LAYERS: [(&str, u8); 22] = [
    ("prony-model", 0),
    ("prony-stats", 0),
    ("prony-wire", 0),
    ("prony-client", 1),
    ("prony-equality", 1),
    ("prony-host", 1),
    ("prony-null", 1),
    ("prony-plan", 1),
    ("prony-probe", 1),
    ("prony-profile", 1),
    ("prony-store", 1),
    (TESTKIT, 1),
    ("prony-check", 2),
    ("prony-servers", 2),
    ("prony-load", 2),
    ("prony-fleet", 3),
    ("prony-lab", 3),
    ("prony-report", 3),
    ("prony-bench", 3),
    ("prony-export", 4),
    ("prony", 5),
    ("xtask", 6),
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
            if let Some(other) = self::layer(&dependency.name)
                && !allowed((name, layer), (&dependency.name, other))
            {
                findings.push(format!("{name} must not depend on {}", dependency.name));
            }
        }
    }
    Ok(findings)
}

/// `true` if a crate may depend on the other one outside its tests.
fn allowed((name, layer): (&str, u8), (other, its_layer): (&str, u8)) -> bool {
    its_layer < layer && other != TESTKIT && !FORBIDDEN.contains(&(name, other))
}

fn layer(name: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, layer)| *layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_may_depend_on_the_testkit() {
        let (_, its_layer) = LAYERS
            .into_iter()
            .find(|(name, _)| *name == TESTKIT)
            .unwrap();
        for (name, layer) in LAYERS {
            assert!(!allowed((name, layer), (TESTKIT, its_layer)), "{name}");
        }
    }

    #[test]
    fn lower_layers_are_allowed_unless_forbidden() {
        assert!(allowed(("prony-lab", 3), ("prony-store", 1)));
        assert!(!allowed(("prony-lab", 3), ("prony-report", 3)));
        assert!(!allowed(("prony-report", 3), ("prony-servers", 2)));
    }
}
