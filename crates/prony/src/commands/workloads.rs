//! `prony workloads`: what an experiment's steps can run.

use prony_model::Workload;
use prony_plan::{Definition, suggestion};

use crate::cli::{
    ListFormatArg, WorkloadFileArgs, WorkloadsCommand, WorkloadsListArgs, WorkloadsShowArgs,
};
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::words::table;

/// Runs one of the sub-commands.
pub(crate) fn workloads(command: &WorkloadsCommand) -> Result<(), Failure> {
    match command {
        WorkloadsCommand::List(args) => list(args),
        WorkloadsCommand::Show(args) => show(args),
    }
}

fn list(args: &WorkloadsListArgs) -> Result<(), Failure> {
    let workloads: Vec<_> = definitions::workloads(&args.files)?
        .into_iter()
        .map(|definition| definition.workload)
        .collect();
    match args.format {
        ListFormatArg::Text => output::data(&list_text(&workloads)),
        ListFormatArg::Json => output::data(&format!("{}\n", serde_json::json!(workloads))),
    }
}

/// One line for each workload, in columns.
fn list_text(workloads: &[Workload]) -> String {
    let rows: Vec<_> = workloads.iter().map(columns).collect();
    table(&rows)
}

/// Everything that is short.
fn columns(workload: &Workload) -> Vec<String> {
    let parameters: Vec<_> = workload
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    vec![
        workload.name.clone(),
        workload.group.name().to_owned(),
        workload.effect.name().to_owned(),
        workload.schema.name().to_owned(),
        parameters.join(","),
        workload.description.clone(),
    ]
}

fn show(args: &WorkloadsShowArgs) -> Result<(), Failure> {
    output::data(&find(&args.workload, &args.files)?.text)
}

/// The workload of this name; one that there is not is refused.
pub(crate) fn find(name: &str, files: &WorkloadFileArgs) -> Result<Definition, Failure> {
    let mut definitions = definitions::workloads(files)?;
    let wanted = |definition: &Definition| definition.workload.name == name;
    match definitions.iter().position(wanted) {
        Some(place) => Ok(definitions.swap_remove(place)),
        None => Err(unknown(name, &definitions)),
    }
}

fn unknown(name: &str, definitions: &[Definition]) -> Failure {
    let names: Vec<&str> = definitions
        .iter()
        .map(|definition| definition.workload.name.as_str())
        .collect();
    Failure::new(ExitStatus::Usage, format!("there is no workload `{name}`")).with_hint(suggestion(
        name,
        "workloads",
        &names,
    ))
}
