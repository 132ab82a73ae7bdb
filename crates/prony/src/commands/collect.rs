//! `prony collect`: the delivered parts of a run become one result file.

use std::fmt::Write as _;

use prony_fleet::{Collected, FleetError, RunFolder, collect};
use prony_store::Store;

use crate::cli::{CollectArgs, FormatArg};
use crate::commands::page;
use crate::commands::report::print;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::words::plural;

/// Merges what is there, says what is not, and prints the report.
pub(crate) fn run(args: &CollectArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.run).map_err(Failure::usage)?;
    let collected = collect(&folder, args.mixed_hosts).map_err(|error| fleet_failure(&error))?;
    output::notice(&words(&collected));
    let store = Store::open_read_only(&folder.result()).map_err(Failure::host)?;
    print(&store, FormatArg::Text, &prony_report::Extent::Answer)?;
    page::leave(&store, folder.path())?;
    let merged = &collected.merged;
    let lacking = merged.missing.len() + merged.incomplete.len();
    let failed = store.trial_counts().map_err(Failure::host)?.failed;
    let what = match (lacking, failed) {
        (0, 0) if merged.refused.is_empty() => return Ok(()),
        (0, 0) => format!("{} refused", plural(merged.refused.len() as u64, "part")),
        (0, failed) => format!("{} failed", plural(failed, "trial")),
        (lacking, _) => format!("{} not complete", plural(lacking as u64, "block")),
    };
    let again = format!("prony submit {}", folder.path().display());
    Err(Failure::new(ExitStatus::TrialsFailed, what)
        .with_hint(format!("measure what is missing with: {again}")))
}

/// The exit code of what ends a command for many hosts.
pub(crate) fn fleet_failure(error: &FleetError) -> Failure {
    let code = match error {
        FleetError::NotARun { .. } | FleetError::Nothing { .. } | FleetError::MixedHosts { .. } => {
            ExitStatus::Usage
        }
        FleetError::Invalid { .. } => ExitStatus::Invalid,
        FleetError::Store(_) | FleetError::Io { .. } | FleetError::Engine { .. } => {
            ExitStatus::Host
        }
    };
    Failure::to(code, error)
}

/// What was merged, and what was not.
fn words(collected: &Collected) -> String {
    let Collected { merged, classes } = collected;
    let hosts: usize = classes.values().map(Vec::len).sum();
    let mut text = format!(
        "merged {} of {}",
        plural(merged.used as u64, "part"),
        plural(hosts as u64, "host")
    );
    // Writing to a String can't fail.
    for part in &merged.refused {
        let _ = write!(text, "\nrefused: {}: {}", part.name, part.reason);
    }
    for (block, part) in &merged.twice {
        let block = block + 1;
        let _ = write!(
            text,
            "\nmeasured twice: block {block}; not used from {part}"
        );
    }
    for (what, blocks) in [
        ("missing", &merged.missing),
        ("not complete", &merged.incomplete),
    ] {
        if !blocks.is_empty() {
            let numbers: Vec<String> = blocks.iter().map(|block| (block + 1).to_string()).collect();
            let blocks = if numbers.len() == 1 {
                "block"
            } else {
                "blocks"
            };
            let _ = write!(text, "\n{what}: {blocks} {}", numbers.join(", "));
        }
    }
    text
}
