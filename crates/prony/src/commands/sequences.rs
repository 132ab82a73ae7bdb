//! `prony sequences`: the presets that an experiment's sequence can be.

use std::fmt::Write as _;

use prony_plan::{Preset, suggestion};

use crate::cli::{ListArgs, ListFormatArg, SequencesCommand, SequencesShowArgs};
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::words::plural;

/// Runs one of the sub-commands.
pub(crate) fn sequences(command: &SequencesCommand) -> Result<(), Failure> {
    match command {
        SequencesCommand::List(args) => list(args),
        SequencesCommand::Show(args) => show(args),
    }
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let presets = definitions::presets()?;
    match args.format {
        ListFormatArg::Text => output::data(&list_text(&presets)),
        ListFormatArg::Json => output::data(&list_json(&presets)),
    }
}

/// One line for each preset.
fn list_text(presets: &[Preset]) -> String {
    let names = presets.iter().map(|preset| preset.name().len());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for preset in presets {
        let steps = plural(preset.steps().count() as u64, "step");
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "{:width$}  {steps:>8}  {}",
            preset.name(),
            preset.description()
        );
    }
    text
}

fn list_json(presets: &[Preset]) -> String {
    let presets: Vec<_> = presets
        .iter()
        .map(|preset| {
            serde_json::json!({
                "name": preset.name(),
                "description": preset.description(),
                "history": preset.history(),
                "steps": preset.steps().collect::<Vec<_>>(),
            })
        })
        .collect();
    format!("{}\n", serde_json::Value::from(presets))
}

fn show(args: &SequencesShowArgs) -> Result<(), Failure> {
    let presets = definitions::presets()?;
    if let Some(preset) = presets.iter().find(|preset| preset.name() == args.sequence) {
        return output::data(preset.text());
    }
    let names: Vec<_> = presets.iter().map(Preset::name).collect();
    let message = format!("there is no sequence `{}`", args.sequence);
    let hint = suggestion(&args.sequence, "sequences", &names);
    Err(Failure::new(ExitStatus::Usage, message).with_hint(hint))
}
