//! `prony status`: how far a submitted run is.

use prony_fleet::{Engine, RunFolder, Slurm, Status, status};

use crate::cli::{ListFormatArg, StatusArgs};
use crate::commands::collect::fleet_failure;
use crate::failure::Failure;
use crate::output;
use crate::words::table;

/// Shows the state of every block.
pub(crate) fn run(args: &StatusArgs) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.run).map_err(Failure::usage)?;
    let status = status(&folder, |round| {
        (round.engine == "slurm").then(|| Box::new(Slurm) as Box<dyn Engine>)
    });
    let status = status.map_err(|error| fleet_failure(&error))?;
    match args.format {
        ListFormatArg::Text => output::data(&text(&status)),
        ListFormatArg::Json => {
            let text = serde_json::to_string_pretty(&status).map_err(Failure::defect)?;
            output::data(&format!("{text}\n"))
        }
    }
}

fn text(status: &Status) -> String {
    let heading = ["block", "state", "host", "reason"]
        .map(str::to_owned)
        .to_vec();
    let rows = status.blocks.iter().map(|block| {
        vec![
            block.block.to_string(),
            block.state.to_owned(),
            block.host_name.clone().unwrap_or_default(),
            block.reason.clone().unwrap_or_default(),
        ]
    });
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let mut text = table(&rows);
    let stopped = status.stopped.iter();
    let stopped = stopped.map(|reason| format!("stopped: {}", reason.trim()));
    let unreadable = status.unreadable.iter();
    let unreadable = unreadable.map(|part| format!("unreadable: {part}"));
    let silent = status.silent.iter();
    let silent = silent.map(|error| format!("what is running is not known: failed to {error}"));
    for line in stopped.chain(unreadable).chain(silent) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}
