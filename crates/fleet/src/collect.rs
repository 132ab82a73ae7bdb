//! Parts become one run.

use std::collections::BTreeMap;
use std::path::Path;

use prony_store::{Merged, Store, merge};
use serde::Deserialize;

use crate::error::FleetError;
use crate::folder::RunFolder;

/// The outcome of collecting.
#[derive(Debug)]
pub struct Collected {
    /// What was merged and what was not.
    pub merged: Merged,
    /// Names of the hosts whose blocks count, by kind of host in words.
    pub classes: BTreeMap<String, Vec<String>>,
}

/// Merges the delivered parts into the run's result file, which takes the place of an earlier one.
/// Doing it twice gives the same bytes.
///
/// # Errors
/// When nothing is there yet, the hosts are unlike and `mixed_hosts` is not given, or the file can't be
/// written.
pub fn collect(folder: &RunFolder, mixed_hosts: bool) -> Result<Collected, FleetError> {
    let parts = folder.part_files()?;
    if parts.is_empty() {
        return Err(FleetError::Nothing {
            path: folder.path().to_owned(),
        });
    }
    // Beside the result, so that unlike hosts leave an earlier result as it is.
    let draft = folder.path().join(".merged.sqlite");
    let merged = merge(&folder.plan(), &parts, &draft)?;
    let classes = classes(&draft)?;
    let kept = if classes.len() > 1 && !mixed_hosts {
        let lines = classes
            .iter()
            .map(|(class, nodes)| format!("  {class}: {}", nodes.join(", ")));
        Err(FleetError::MixedHosts {
            classes: lines.collect::<Vec<_>>().join("\n"),
        })
    } else {
        Ok(())
    };
    if let Err(error) = kept {
        // The reason is known; a draft that stays is overwritten by the next collection.
        let _ = std::fs::remove_file(&draft);
        return Err(error);
    }
    let result = folder.result();
    std::fs::rename(&draft, &result).map_err(|source| FleetError::Io {
        action: "write",
        path: result,
        source,
    })?;
    Ok(Collected { merged, classes })
}

/// The hosts of a merged file by their kind.
fn classes(path: &Path) -> Result<BTreeMap<String, Vec<String>>, FleetError> {
    let store = Store::open_read_only(path)?;
    let mut classes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for host in store.hosts()? {
        let class = class(&host.facts_json);
        let names = classes.entry(class).or_default();
        let name = host.host_name.unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(classes)
}

/// The facts that make hosts alike.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Facts {
    cpu_model: Option<String>,
    cpus: Option<u32>,
    memory_bytes: Option<u64>,
    kernel: Option<String>,
}

/// The kind of a host in words. Memory counts to the GiB: firmware takes a little of it, which differs.
fn class(facts_json: &str) -> String {
    let facts: Facts = serde_json::from_str(facts_json).unwrap_or_default();
    let gib = facts.memory_bytes.map(|bytes| (bytes + (1 << 29)) >> 30);
    let words = [
        facts.cpu_model,
        facts.cpus.map(|cpus| format!("{cpus} processors")),
        gib.map(|gib| format!("{gib} GiB")),
        facts.kernel.map(|kernel| format!("kernel {kernel}")),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    if words.is_empty() {
        return "an unknown kind".to_owned();
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_alike_by_what_decides_their_speed() {
        let facts = |memory: u64, kernel: &str| {
            format!(
                r#"{{"cpu_model": "X", "cpus": 8, "memory_bytes": {memory}, "kernel": "{kernel}",
                    "name": "any"}}"#
            )
        };
        let one = class(&facts(33_000_000_000, "6.1"));
        assert_eq!(one, "X, 8 processors, 31 GiB, kernel 6.1");
        assert_eq!(class(&facts(33_000_100_000, "6.1")), one);
        assert_ne!(class(&facts(66_000_000_000, "6.1")), one);
        assert_ne!(class(&facts(33_000_000_000, "6.2")), one);
        assert_eq!(class("{}"), "an unknown kind");
    }
}
