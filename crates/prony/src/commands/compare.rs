//! `prony compare`: cells of one or several runs side by side.

use std::path::Path;

use prony_report::Question;
use prony_store::Store;

use super::report::result_file;
use crate::cli::CompareArgs;
use crate::failure::Failure;
use crate::output;

/// Prints the comparison.
pub(crate) fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let mut stores = Vec::new();
    for run in &args.runs {
        let (label, path) = named(run);
        let store = Store::open_read_only(&result_file(Path::new(path))?);
        stores.push((label.map(str::to_owned), store.map_err(Failure::usage)?));
    }
    let stores: Vec<_> = stores.iter().map(|(label, s)| (label.clone(), s)).collect();
    let columns = if stores.len() > 1 {
        "run,target"
    } else {
        "target"
    };
    let question = Question {
        filter: &args.filter,
        table: &args.table,
        row: &args.row,
        column: args.col.as_deref().unwrap_or(columns),
        base: args.base.as_deref(),
        metric: args.metric,
        values: args.values,
    };
    let text = prony_report::compare(&stores, &question, args.format.into());
    output::data(&text.map_err(Failure::usage)?)
}

/// The name that the user gave to a run, and its path. A path that exists has no name.
fn named(run: &str) -> (Option<&str>, &str) {
    match run.split_once('=') {
        Some((label, path)) if !label.is_empty() && !Path::new(run).exists() => (Some(label), path),
        _ => (None, run),
    }
}
