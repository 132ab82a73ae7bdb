//! `prony plan`: what an experiment would do.

use std::fmt::Write as _;

use prony_model::{Aspect, Length, Plan, Target};
use prony_plan::{Assumptions, predicted_ms};
use prony_report::{EffectiveTarget, effective_settings};

use crate::cli::PlanArgs;
use crate::commands::run::lab_failure;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::progress::Progress;
use crate::session::Surroundings;
use crate::signals::Signals;
use crate::words::{duration, plural};

/// Prints targets, steps, the order of the trials and the predicted time.
pub(crate) fn plan(args: &PlanArgs) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let plan = definitions::experiment(&args.experiment, &args.definitions, &catalogue)?;
    output::data(&describe(&plan))
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
        let code = ExitStatus::Interrupted(signals.exit_code());
        return Err(Failure::new(code, "interrupted"));
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
    let text = effective_settings(&targets, &plan.allow, args.format.into())
        .map_err(|error| Failure::to(ExitStatus::Usage, &error))?;
    output::data(&text)?;
    if silent.is_empty() {
        return Ok(());
    }
    Err(Failure::new(ExitStatus::Server, silent.join("\n")))
}

fn describe(plan: &Plan) -> String {
    let mut text = format!("{}\n", plan.name);
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    if !plan.question.is_empty() {
        line(plan.question.clone());
    }
    line(format!(
        "\nDataset: {} × {} rows (sbtest), seed {}",
        plural(plan.dataset.tables.into(), "table"),
        plan.dataset.rows,
        plan.dataset.seed
    ));
    line(format!("\nTargets ({}):", plan.targets.len()));
    let varying = plan.varying();
    for (index, target) in plan.targets.iter().enumerate() {
        let base = if index == plan.base { "  (base)" } else { "" };
        line(format!(
            "  {}: {}{base}",
            target.name,
            summary(target, &varying)
        ));
    }
    line(format!("\nSteps of each trial ({}):", plan.steps.len()));
    for step in &plan.steps {
        let length = match step.length {
            Length::Time { ms } => duration(ms),
            Length::Count { operations } => plural(operations, "operation"),
        };
        let clients = plural(step.clients.into(), "client");
        let warmup = duration(step.warmup_ms);
        line(format!(
            "  {}, {clients}: {length} after {warmup} of warm-up",
            step.name
        ));
    }
    line(format!(
        "\nTrials in order ({} in {} blocks):",
        plan.trials.len(),
        plan.blocks()
    ));
    for block in 0..plan.blocks() {
        let names: Vec<&str> = plan
            .trials
            .iter()
            .filter(|trial| trial.block == block)
            .map(|trial| plan.targets[trial.target].name.as_str())
            .collect();
        line(format!("  block {}: {}", block + 1, names.join(", ")));
    }
    let cells = plan.targets.len() * plan.steps.len();
    let predicted = duration(predicted_ms(plan, &Assumptions::default()));
    let _ = write!(
        text,
        "\n{cells} cells, each measured {} times. Predicted time: about {predicted}, after the \
         server builds have been fetched.\n",
        plan.blocks()
    );
    text
}

/// Build and engine, and whatever else differs between the targets.
fn summary(target: &Target, varying: &[Aspect]) -> String {
    let mut words = vec![
        target.aspect(&Aspect::Build),
        target.aspect(&Aspect::Engine),
    ];
    for aspect in varying {
        if !matches!(aspect, Aspect::Build | Aspect::Engine) {
            words.push(format!("{aspect} {}", target.aspect(aspect)));
        }
    }
    words.join(", ")
}
