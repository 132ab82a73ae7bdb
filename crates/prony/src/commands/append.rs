//! `prony run --append`: more blocks of a run.

use std::path::Path;

use jiff::Timestamp;
use prony_model::AdditionReason;
use prony_plan::more_trials;
use prony_store::Addition;

use crate::cli::RunArgs;
use crate::commands::resume::Reopened;
use crate::failure::Failure;
use crate::output;
use crate::signals::Signals;
use crate::words::plural;

/// Adds blocks to a run, runs everything that is missing, and prints the report.
pub(crate) fn append(run: &Path, args: &RunArgs, signals: &Signals) -> Result<(), Failure> {
    let mut reopened =
        Reopened::open(run, &args.client, &args.images, &args.definitions.catalogue)?;
    let store = &mut reopened.store;
    let from = store.plan().blocks();
    let blocks = match args.blocks {
        Some(blocks) => blocks,
        None => store.blocks_at_first().map_err(Failure::host)?,
    };
    let addition = Addition {
        reason: AdditionReason::Append,
        trials: more_trials(store.plan(), from, blocks),
        without: Vec::new(),
    };
    store
        .add_trials(&addition, Timestamp::now())
        .map_err(Failure::host)?;
    output::talk(&format!(
        "adding {} to the {from} of this run",
        plural(blocks.into(), "block")
    ));
    reopened.complete(signals)
}
