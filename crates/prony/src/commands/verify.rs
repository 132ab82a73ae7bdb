//! `prony run --verify`: a check that every target answers every cell rightly.

use std::fmt::Write as _;

use prony_lab::{Verification, VerifiedCell, VerifiedTarget};
use prony_model::Plan;

use crate::cli::RunArgs;
use crate::commands::complete::lab_failure;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::words::{left_out, plural, table};

/// Checks every cell of an experiment once and prints what came out. No run is stored.
pub(crate) fn verify(args: &RunArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let plan = definitions::experiment(args.experiment()?, &args.definitions, &catalogue)?.plan;
    if let Some(line) = left_out(&plan) {
        output::notice(&line);
    }
    let surroundings = Surroundings::find()?.with_limit(&args.images)?;
    let lab = surroundings.lab(&catalogue, &signals.stop);
    // Two starts, a generator for every cell, and the tables read several times for every entry:
    // about what small machines take.
    let rows = plan.dataset.rows * u64::from(plan.dataset.tables);
    let target_ms = 8_000 + (700 + rows / 500) * plan.steps.len() as u64;
    let mut progress = Progress::start(plan.targets.len(), target_ms);
    let verification = prony_lab::verify(&lab, &plan, &mut |event| progress.show(&event));
    progress.finish();
    let verification = verification.map_err(|error| lab_failure(&error))?;
    let Some(verification) = verification else {
        return Err(Failure::interrupted(
            signals,
            "interrupted; a check stores nothing",
        ));
    };
    output::data(&text(&plan, &verification))?;
    if verification.is_sound() {
        return Ok(());
    }
    let message = "some answers are wrong, or some targets gave none";
    Err(Failure::new(ExitStatus::TrialsFailed, message).with_hint("see the list above"))
}

/// A table of steps and targets, then everything that is wrong.
fn text(plan: &Plan, verification: &Verification) -> String {
    let mut text = format!(
        "{}: answers of {} in {}\n\n",
        plan.name,
        plural(plan.targets.len() as u64, "target"),
        plural(plan.steps.len() as u64, "cell"),
    );
    let head: Vec<String> = ["step".to_owned(), "clients".to_owned()]
        .into_iter()
        .chain(plan.targets.iter().map(|target| target.name.clone()))
        .collect();
    let steps = plan.steps.iter().enumerate().map(|(index, step)| {
        let verdicts = verification
            .targets
            .iter()
            .map(|target| verdict(target.cells.get(index)));
        [step.name.clone(), step.own().clients.to_string()]
            .into_iter()
            .chain(verdicts)
            .collect()
    });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(steps).collect();
    text.push_str(&table(&rows));
    let wrong: Vec<String> = verification
        .targets
        .iter()
        .flat_map(|target| complaints(plan, target))
        .chain(verification.disagreements.iter().cloned())
        .collect();
    let answers: u64 = verification
        .targets
        .iter()
        .flat_map(|target| &target.cells)
        .map(|cell| cell.answers)
        .sum();
    if wrong.is_empty() {
        let _ = write!(
            text,
            "\n{answers} answers, all correct, and the same from every target.\n"
        );
    } else {
        let _ = write!(text, "\n{answers} answers. Problems:\n\n");
        for line in wrong {
            let _ = writeln!(text, "- {line}");
        }
    }
    text
}

fn verdict(cell: Option<&VerifiedCell>) -> String {
    match cell {
        None => "-".to_owned(),
        Some(cell) if cell.wrong.is_empty() => "ok".to_owned(),
        Some(cell) => format!("{} wrong", cell.wrong.len()),
    }
}

fn complaints<'a>(plan: &'a Plan, target: &'a VerifiedTarget) -> impl Iterator<Item = String> + 'a {
    let cells = plan.steps.iter().zip(&target.cells);
    let wrong = cells.flat_map(|(step, cell)| {
        cell.wrong.iter().map(|wrong| {
            let clients = plural(step.own().clients.into(), "client");
            format!("{}, {}, {clients}: {wrong}", target.name, step.name)
        })
    });
    let failure = target.failure.iter();
    wrong.chain(failure.map(|reason| format!("{}: {reason}", target.name)))
}
