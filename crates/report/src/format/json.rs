//! Everything that the other formats show, for programs.

mod canaries;
mod cells;
mod costs;
mod findings;
mod generator;
pub(crate) mod lineage;
mod loads;
mod object;
mod placement;
mod settings;
mod verdicts;
pub(crate) mod view;

use std::collections::BTreeMap;

use prony_model::{IntentValue, TrialState};
use prony_stats::{Pairs, Summary};
use prony_store::TrialCounts;
use serde::Serialize;
use serde_json::Value;

pub(crate) use self::object::object;
pub(crate) use self::placement::placed;
use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::settings::Settings;
use crate::error::ReportError;
use crate::figures::rounded;

/// Changes whenever a key vanishes or changes its meaning.
const FORMAT: u32 = 1;

/// Writes the report as one indented JSON object.
pub(crate) fn write(analysis: &Analysis<'_>) -> Result<String, ReportError> {
    let plan = analysis.plan;
    let metrics = costs::metrics(analysis);
    let absences = costs::absences(analysis);
    let canary = canaries::entry(analysis);
    pretty(&object! {
        format: FORMAT,
        experiment: object! {
            name: &plan.name,
            question: &plan.question,
            preset: &plan.preset,
            profile: &plan.profile,
            left_out: &plan.left_out,
        },
        run: run(analysis),
        generator: generator::entry(analysis),
        findings: findings::entry(analysis),
        dataset: &plan.dataset,
        blocks: object! {
            planned: plan.blocks(),
            complete: analysis.trials.blocks_complete(plan),
        },
        trials: counts(&analysis.trials.counts),
        varying: plan.varying().iter().map(ToString::to_string).collect::<Vec<_>>(),
        targets: targets(analysis),
        #[serde(flatten)]
        settings: settings::entry(&analysis.settings),
        execution_plans: execution_plans(analysis),
        loads: loads::loads(analysis),
        before_after: loads::before_after(analysis),
        #[serde(flatten)]
        metrics: (!metrics.is_empty()).then(|| object! { metrics: metrics }),
        #[serde(flatten)]
        absences: (!absences.is_empty()).then(|| object! { absences: absences }),
        #[serde(flatten)]
        canary: canary.map(|canary| object! { canary: canary }),
        identical_servers: verdicts::identical(analysis),
        verdicts: verdicts::entry(analysis),
        overall: verdicts::overall(analysis),
        section_summaries: verdicts::summaries(analysis),
        cells: cells::cells(analysis)?,
        failed: trials(analysis, TrialState::Failed),
        discarded: trials(analysis, TrialState::Discarded),
        excluded: trials(analysis, TrialState::Excluded),
        warnings: warnings(analysis),
    })
}

/// Writes the settings of servers as a document of its own.
pub(crate) fn settings(all: &Settings) -> Result<String, ReportError> {
    pretty(&settings::entry(all))
}

/// An indented JSON object with a line feed at its end.
pub(crate) fn pretty(document: &impl Serialize) -> Result<String, ReportError> {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .map_err(|source| ReportError::Json { source })
}

fn run(analysis: &Analysis<'_>) -> impl Serialize {
    let run = &analysis.run;
    let hosts = analysis.hosts.iter().map(|host| {
        object! {
            recorded_at: host.recorded_at.to_string(),
            facts: serde_json::from_str::<Value>(&host.facts_json).unwrap_or_default(),
            findings: &host.findings,
        }
    });
    object! {
        id: &run.id,
        prony_version: &run.prony_version,
        started_at: run.started_at.to_string(),
        ended_at: run.ended_at.map(|at| at.to_string()),
        hosts: hosts.collect::<Vec<_>>(),
        default_placement: analysis.placements.default,
        turn_ms: analysis.plan.turn_ms,
    }
}

fn counts(counts: &TrialCounts) -> impl Serialize {
    object! {
        planned: counts.planned,
        done: counts.done,
        failed: counts.failed,
        running: counts.running,
        discarded: counts.discarded,
        excluded: counts.excluded,
        missing: counts.missing(),
    }
}

fn targets(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let targets = analysis.plan.targets.iter().enumerate();
    let entries = targets.map(|(index, target)| {
        let build = analysis.builds[index].as_ref();
        let intents = target.config.intents.iter();
        object! {
            name: &target.name,
            base: analysis.plan.is_base(index),
            #[serde(flatten)]
            relative_to: relative_to(analysis, index),
            twin: Some(index) == analysis.plan.twin,
            build: &target.build.id,
            server_version: build.map(|build| &build.server_version),
            build_hash: build.map(|build| &build.content_hash),
            engine: target.engine,
            protocol: target.protocol,
            transport: target.transport,
            preload: &target.preload,
            external: target.external.as_ref().map(ToString::to_string),
            config: object! {
                baseline: target.config.baseline,
                intents: intents
                    .map(|(name, value)| (name, intent(value)))
                    .collect::<BTreeMap<_, _>>(),
                raw: &target.config.raw,
            },
        }
    });
    entries.collect()
}

/// The base of a target, where targets have different ones.
fn relative_to(analysis: &Analysis<'_>, target: usize) -> Option<impl Serialize> {
    let base = analysis.plan.other_base_of(target);
    let base = base.filter(|_| analysis.plan.has_several_bases())?;
    Some(object! { relative_to: &analysis.plan.targets[base].name })
}

fn execution_plans(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let entries = analysis.statements.iter().map(|statement| {
        let explained = statement.plans.iter().map(|(target, plan)| {
            object! {
                target: &analysis.plan.targets[*target].name,
                explain: &plan.rows,
            }
        });
        object! {
            step: &statement.step,
            statement: &statement.statement,
            equal: statement.equal(),
            targets: explained.collect::<Vec<_>>(),
        }
    });
    entries.collect()
}

/// The value as an experiment file writes it.
pub(crate) fn intent(value: &IntentValue) -> Value {
    match value {
        IntentValue::Flag(flag) => (*flag).into(),
        IntentValue::Number(number) | IntentValue::Bytes(number) => (*number).into(),
        IntentValue::Text(text) => text.as_str().into(),
    }
}

pub(crate) fn summary(summary: &Summary) -> impl Serialize + use<> {
    object! {
        mean: rounded(summary.mean, 6),
        median: rounded(summary.median, 6),
        min: rounded(summary.min, 6),
        max: rounded(summary.max, 6),
        variation: summary.variation.map(|variation| rounded(variation, 6)),
        n: summary.n,
    }
}

/// A ratio with its interval, from the pairs that count, and its range over all pairs.
pub(crate) fn ratio(analysis: &Analysis<'_>, pairs: &Pairs) -> impl Serialize + use<> {
    let range = pairs.ratio();
    object! {
        #[serde(flatten)]
        estimate: estimate(&analysis.verdicts.looks.of_pairs(pairs)),
        min: rounded(range.min, 6),
        max: rounded(range.max, 6),
    }
}

/// A ratio with its interval.
pub(crate) fn estimate(estimate: &Estimate) -> impl Serialize + use<> {
    object! {
        ratio: rounded(estimate.ratio(), 6),
        low: estimate.interval.map(|interval| rounded(interval.low, 6)),
        high: estimate.interval.map(|interval| rounded(interval.high, 6)),
        n: estimate.n(),
    }
}

fn trials(analysis: &Analysis<'_>, state: TrialState) -> Vec<impl Serialize> {
    let trials = analysis.trials.in_state(state);
    trials
        .map(|trial| {
            object! {
                target: &analysis.plan.targets[trial.planned.target].name,
                block: trial.planned.block + 1,
                attempt: trial.attempt,
                reason: &trial.reason,
                log_tail: &trial.log_tail,
            }
        })
        .collect()
}

fn warnings(analysis: &Analysis<'_>) -> Vec<impl Serialize> {
    let warnings = analysis.warnings.iter();
    warnings
        .map(|warning| {
            let subject = warning.subject;
            let trial = subject.trial().and_then(|id| analysis.trials.get(id));
            let planned = trial.map(|trial| trial.planned);
            let step = subject.step().map(|step| &analysis.plan.steps[step]);
            object! {
                target: planned.map(|p| &analysis.plan.targets[p.target].name),
                block: planned.map(|p| p.block + 1),
                step: step.map(|step| &step.name),
                clients: step.map(|step| step.own().clients),
                code: &warning.code,
                text: analysis.warning_text(warning),
            }
        })
        .collect()
}
