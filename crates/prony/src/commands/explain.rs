//! `prony explain`: what an operation costs by component and function, and what two targets differ by.

use std::fs;

use prony_report::{ExplainQuestion, Explained};
use prony_store::Store;

use super::report::result_file;
use crate::cli::ExplainArgs;
use crate::commands::page;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Prints the explanation, and writes the files that were asked for.
pub(crate) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let components = match &args.components {
        None => prony_report::Components::built_in(),
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| {
                let message = format!("read {}: {error}", path.display());
                Failure::new(ExitStatus::Usage, message)
            })?;
            prony_report::Components::with(&text, &path.display().to_string())
        }
    };
    let components = components.map_err(Failure::usage)?;
    let store = Store::open_read_only(&result_file(&args.run)?).map_err(Failure::usage)?;
    let question = ExplainQuestion {
        step: args.step.as_deref(),
        clients: args.clients,
        target: args.target.as_deref(),
        base: args.base.as_deref(),
        by: args.by.map(Into::into),
        unit: args.unit.map(Into::into),
    };
    let explained = Explained::read(&store, &question, &components).map_err(Failure::usage)?;
    if let Some(path) = &args.flame {
        page::replace(path, &explained.flame_graph().map_err(Failure::usage)?)?;
    }
    if let Some(path) = &args.folded {
        page::replace(path, &explained.folded().map_err(Failure::usage)?)?;
    }
    if let Some(path) = &args.pprof {
        page::replace(path, explained.pprof().map_err(Failure::usage)?)?;
    }
    let text = explained.write(args.format.into(), output::screen());
    output::data(&text.map_err(Failure::usage)?)
}
