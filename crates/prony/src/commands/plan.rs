//! `prony plan`: what an experiment would do.

mod describe;
mod pace;
mod placement;

use prony_lab::PlannedPlacements;
use prony_model::Plan;
use prony_probe::Root;
use prony_report::{EffectiveTarget, effective_settings};

use crate::cli::PlanArgs;
use crate::commands::run::lab_failure;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::surroundings::Surroundings;

/// Prints targets, steps, the order of the trials and the predicted time.
pub(crate) fn plan(args: &PlanArgs) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let plan = definitions::experiment(&args.experiment, &args.definitions, &catalogue)?;
    let placements = placements(&plan);
    let hardware_counters = definitions::hardware_counters();
    output::data(&describe::describe(&plan, hardware_counters, placements))
}

/// The placement of each step on this host, in lines.
fn placements(plan: &Plan) -> Vec<String> {
    match PlannedPlacements::find(plan, None, &Root::live()) {
        Ok(planned) => placement::lines(plan, planned.default, |target, step| {
            planned.of(target, step)
        }),
        Err(error) => vec![format!(
            "\nThe placement on this host is unknown: failed to list the processors: {error}"
        )],
    }
}

/// Starts every target's server once and prints what it was told and what it made of it.
pub(crate) fn effective(args: &PlanArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let plan = definitions::experiment(&args.experiment, &args.definitions, &catalogue)?;
    let surroundings = Surroundings::find()?;
    let lab = surroundings.lab(&catalogue, &signals.stop);
    let mut progress = Progress::start(0, 0);
    let effective = prony_lab::effective(&lab, &plan, &mut |event| progress.show(&event));
    progress.finish();
    let effective = effective.map_err(|error| lab_failure(&error))?;
    let Some(effective) = effective else {
        return Err(Failure::interrupted(signals, "interrupted"));
    };
    let mut targets = Vec::new();
    let mut silent = Vec::new();
    for (target, effective) in plan.targets.iter().zip(effective) {
        match effective {
            Ok(effective) => targets.push(EffectiveTarget {
                name: target.name.clone(),
                engine: target.engine,
                external: target.external.is_some(),
                intents: target.config.intents.clone(),
                options: effective.options,
                variables: effective.variables,
            }),
            Err(reason) => silent.push(format!("{}: {reason}", target.name)),
        }
    }
    let text =
        effective_settings(&targets, &plan.allow, args.format.into()).map_err(Failure::usage)?;
    output::data(&text)?;
    if silent.is_empty() {
        return Ok(());
    }
    Err(Failure::new(ExitStatus::Server, silent.join("\n")))
}
