//! `prony resume`: continue an interrupted run.

use jiff::Timestamp;
use prony_store::Store;

use crate::cli::ResumeArgs;
use crate::commands::report::result_file;
use crate::commands::run::complete;
use crate::definitions;
use crate::failure::Failure;
use crate::output;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::words::plural;

/// Runs what is missing and prints the report.
pub(crate) fn resume(args: &ResumeArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    let path = result_file(&args.run)?;
    let mut store = Store::open(&path).map_err(Failure::usage)?;
    // The reason of a failure may be mended by now.
    let again = store.retry_failed().map_err(Failure::host)?;
    if again > 0 {
        output::talk(&format!("running {} again", plural(again, "failed trial")));
    }
    let surroundings = Surroundings::find()?.with_limit(&args.images)?;
    let host_json = serde_json::to_string(&surroundings.host).map_err(Failure::defect)?;
    store
        .record_host(&host_json, Timestamp::now())
        .map_err(Failure::host)?;
    let folder = path.parent().unwrap_or(&args.run);
    let end = complete(&mut store, folder, &catalogue, &surroundings, signals);
    end.map_err(|stopped| stopped.failure)
}
