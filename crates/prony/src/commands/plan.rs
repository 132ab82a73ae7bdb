//! `prony plan`: what an experiment would do.

mod accuracy;
mod describe;
mod families;
mod pace;
mod placement;
mod shared;

use std::env;

use prony_host::Roots;
use prony_lab::{PlannedPlacements, recalled_calibration};
use prony_model::{Calibration, Plan, WakeUps};
use prony_probe::Root;
use prony_report::{EffectiveTarget, effective_settings};

use crate::cli::PlanArgs;
use crate::commands::complete::lab_failure;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::surroundings::Surroundings;

/// Prints targets, steps, the order of the trials and the predicted time.
pub(crate) fn plan(args: &PlanArgs) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let plan = definitions::experiment(&args.experiment, &args.definitions, &catalogue)?.plan;
    let calibration = recalled();
    let text = describe::describe(
        &plan,
        &catalogue.intent_facts(),
        definitions::hardware_counters(),
        placements(&plan, calibration.as_ref()),
        calibration.as_ref(),
    );
    output::data(&text)
}

/// The placement of each step on this host, in lines.
fn placements(plan: &Plan, calibration: Option<&Calibration>) -> Vec<String> {
    let wake_ups = calibration.and_then(|known| known.wake_ups.as_ref());
    let price = wake_ups.and_then(WakeUps::across_by_same);
    match PlannedPlacements::find(plan, price, &Root::live()) {
        Ok(planned) => placement::lines(plan, planned.default, |target, step| {
            planned.of(target, step)
        }),
        Err(error) => vec![format!(
            "\nThe placement on this host is unknown: failed to list the processors: {error}"
        )],
    }
}

/// The calibration of this program on this host. `None` if the cache has none.
fn recalled() -> Option<Calibration> {
    let roots = Roots::from_environment().ok()?;
    let prony = env::current_exe().ok()?;
    recalled_calibration(&roots, &prony, &Root::live())
}

/// Starts every target's server once and prints what it was told and what it made of it.
pub(crate) fn effective(args: &PlanArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let plan = definitions::experiment(&args.experiment, &args.definitions, &catalogue)?.plan;
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
                baseline: target.config.baseline,
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
