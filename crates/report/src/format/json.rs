//! Everything that the other formats show, for programs.

mod cells;
mod costs;
mod generator;
mod loads;
mod settings;

use std::collections::BTreeMap;

use prony_model::{Dataset, Engine, IntentValue, Protocol, Transport, TrialState};
use prony_stats::{Pairs, Summary};
use serde::Serialize;
use serde_json::Value;

use self::cells::CellEntry;
use self::costs::{AbsenceEntry, MetricEntry};
use self::generator::GeneratorEntry;
use self::loads::{BeforeAfterEntry, LoadEntry};
use self::settings::{DifferenceEntry, SettingEntry, SettingsEntry};
use crate::analysis::Analysis;
use crate::analysis::settings::Settings;
use crate::error::ReportError;
use crate::figures::rounded;

/// Changes whenever a key vanishes or changes its meaning.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    experiment: Experiment<'a>,
    run: Run<'a>,
    generator: GeneratorEntry<'a>,
    dataset: &'a Dataset,
    blocks: Blocks,
    trials: Trials,
    varying: Vec<String>,
    targets: Vec<TargetEntry<'a>>,
    compared: &'a [String],
    settings: Vec<SettingEntry<'a>>,
    differences: Vec<DifferenceEntry<'a>>,
    execution_plans: Vec<StatementEntry<'a>>,
    loads: Vec<LoadEntry<'a>>,
    before_after: Vec<BeforeAfterEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<MetricEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absences: Vec<AbsenceEntry<'a>>,
    cells: Vec<CellEntry<'a>>,
    failed: Vec<TrialEntry<'a>>,
    discarded: Vec<TrialEntry<'a>>,
    warnings: Vec<WarningEntry<'a>>,
}

#[derive(Serialize)]
struct Experiment<'a> {
    name: &'a str,
    question: &'a str,
    preset: Option<&'a str>,
    profile: Option<&'a str>,
}

#[derive(Serialize)]
struct Run<'a> {
    id: &'a str,
    prony_version: &'a str,
    started_at: String,
    ended_at: Option<String>,
    hosts: Vec<Host>,
}

#[derive(Serialize)]
struct Host {
    recorded_at: String,
    facts: Value,
}

#[derive(Serialize)]
struct Blocks {
    planned: u32,
    complete: usize,
}

#[derive(Serialize)]
struct Trials {
    planned: u64,
    done: u64,
    failed: u64,
    running: u64,
    discarded: u64,
    missing: u64,
}

#[derive(Serialize)]
struct TargetEntry<'a> {
    name: &'a str,
    base: bool,
    build: &'a str,
    server_version: Option<&'a str>,
    build_hash: Option<&'a str>,
    engine: Engine,
    protocol: Protocol,
    transport: Transport,
    external: Option<String>,
    config: ConfigEntry<'a>,
}

#[derive(Serialize)]
struct ConfigEntry<'a> {
    intents: BTreeMap<&'a str, Value>,
    raw: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct StatementEntry<'a> {
    step: &'a str,
    statement: &'a str,
    equal: bool,
    targets: Vec<ExplainEntry<'a>>,
}

#[derive(Serialize)]
struct ExplainEntry<'a> {
    target: &'a str,
    explain: &'a Value,
}

#[derive(Serialize)]
pub(crate) struct SummaryEntry {
    mean: f64,
    median: f64,
    min: f64,
    max: f64,
    variation: Option<f64>,
    n: usize,
}

#[derive(Serialize)]
pub(crate) struct RatioEntry {
    ratio: f64,
    min: f64,
    max: f64,
    n: usize,
}

#[derive(Serialize)]
struct TrialEntry<'a> {
    target: &'a str,
    block: u32,
    attempt: u32,
    reason: Option<&'a str>,
    log_tail: Option<&'a str>,
}

#[derive(Serialize)]
struct WarningEntry<'a> {
    target: Option<&'a str>,
    block: Option<u32>,
    step: Option<&'a str>,
    clients: Option<u32>,
    code: &'a str,
    text: String,
}

/// Writes the report as one indented JSON object.
pub(crate) fn write(analysis: &Analysis<'_>) -> Result<String, ReportError> {
    let plan = analysis.plan;
    let counts = analysis.trials.counts;
    let settings = SettingsEntry::of(&analysis.settings);
    let document = Document {
        format: FORMAT,
        experiment: Experiment {
            name: &plan.name,
            question: &plan.question,
            preset: plan.preset.as_deref(),
            profile: plan.profile.as_deref(),
        },
        run: run(analysis),
        generator: generator::entry(analysis),
        dataset: &plan.dataset,
        blocks: Blocks {
            planned: plan.blocks(),
            complete: analysis.trials.blocks_complete(plan),
        },
        trials: Trials {
            planned: counts.planned,
            done: counts.done,
            failed: counts.failed,
            running: counts.running,
            discarded: counts.discarded,
            missing: counts.missing(),
        },
        varying: plan.varying().iter().map(ToString::to_string).collect(),
        targets: targets(analysis),
        compared: settings.compared,
        settings: settings.settings,
        differences: settings.differences,
        execution_plans: execution_plans(analysis),
        loads: loads::loads(analysis),
        before_after: loads::before_after(analysis),
        metrics: costs::metrics(analysis),
        absences: costs::absences(analysis),
        cells: cells::cells(analysis)?,
        failed: trials(analysis, TrialState::Failed),
        discarded: trials(analysis, TrialState::Discarded),
        warnings: warnings(analysis),
    };
    pretty(&document)
}

/// Writes the settings of servers as a document of its own.
pub(crate) fn settings(all: &Settings) -> Result<String, ReportError> {
    pretty(&SettingsEntry::of(all))
}

/// An indented JSON object with a line feed at its end.
pub(crate) fn pretty(document: &impl Serialize) -> Result<String, ReportError> {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .map_err(|source| ReportError::Json { source })
}

fn run<'a>(analysis: &'a Analysis<'_>) -> Run<'a> {
    let run = &analysis.run;
    let hosts = analysis.hosts.iter().map(|host| Host {
        recorded_at: host.recorded_at.to_string(),
        facts: serde_json::from_str(&host.facts_json).unwrap_or_default(),
    });
    Run {
        id: &run.id,
        prony_version: &run.prony_version,
        started_at: run.started_at.to_string(),
        ended_at: run.ended_at.map(|at| at.to_string()),
        hosts: hosts.collect(),
    }
}

fn targets<'a>(analysis: &'a Analysis<'_>) -> Vec<TargetEntry<'a>> {
    analysis
        .plan
        .targets
        .iter()
        .zip(&analysis.builds)
        .enumerate()
        .map(|(index, (target, build))| TargetEntry {
            name: &target.name,
            base: index == analysis.plan.base,
            build: &target.build.id,
            server_version: build.as_ref().map(|build| build.server_version.as_str()),
            build_hash: build.as_ref().map(|build| build.content_hash.as_str()),
            engine: target.engine,
            protocol: target.protocol,
            transport: target.transport,
            external: target.external.as_ref().map(ToString::to_string),
            config: ConfigEntry {
                intents: target
                    .config
                    .intents
                    .iter()
                    .map(|(name, value)| (name.as_str(), intent(value)))
                    .collect(),
                raw: &target.config.raw,
            },
        })
        .collect()
}

fn execution_plans<'a>(analysis: &'a Analysis<'_>) -> Vec<StatementEntry<'a>> {
    analysis
        .statements
        .iter()
        .map(|statement| StatementEntry {
            step: &statement.step,
            statement: &statement.statement,
            equal: statement.equal(),
            targets: statement
                .plans
                .iter()
                .map(|(target, plan)| ExplainEntry {
                    target: &analysis.plan.targets[*target].name,
                    explain: &plan.rows,
                })
                .collect(),
        })
        .collect()
}

/// The value as an experiment file writes it.
fn intent(value: &IntentValue) -> Value {
    match value {
        IntentValue::Flag(flag) => (*flag).into(),
        IntentValue::Number(number) | IntentValue::Bytes(number) => (*number).into(),
        IntentValue::Text(text) => text.as_str().into(),
    }
}

pub(crate) fn summary(summary: &Summary) -> SummaryEntry {
    SummaryEntry {
        mean: rounded(summary.mean, 6),
        median: rounded(summary.median, 6),
        min: rounded(summary.min, 6),
        max: rounded(summary.max, 6),
        variation: summary.variation.map(|variation| rounded(variation, 6)),
        n: summary.n,
    }
}

pub(crate) fn ratio(pairs: &Pairs) -> RatioEntry {
    let ratio = pairs.ratio();
    RatioEntry {
        ratio: rounded(ratio.ratio, 6),
        min: rounded(ratio.min, 6),
        max: rounded(ratio.max, 6),
        n: ratio.n,
    }
}

fn trials<'a>(analysis: &'a Analysis<'_>, state: TrialState) -> Vec<TrialEntry<'a>> {
    let trials = analysis.trials.in_state(state);
    trials
        .map(|trial| TrialEntry {
            target: &analysis.plan.targets[trial.planned.target].name,
            block: trial.planned.block + 1,
            attempt: trial.attempt,
            reason: trial.reason.as_deref(),
            log_tail: trial.log_tail.as_deref(),
        })
        .collect()
}

fn warnings<'a>(analysis: &'a Analysis<'_>) -> Vec<WarningEntry<'a>> {
    analysis
        .warnings
        .iter()
        .map(|warning| {
            let subject = warning.subject;
            let trial = subject.trial().and_then(|id| analysis.trials.get(id));
            let planned = trial.map(|trial| trial.planned);
            let step = subject.step().map(|step| &analysis.plan.steps[step]);
            WarningEntry {
                target: planned.map(|p| analysis.plan.targets[p.target].name.as_str()),
                block: planned.map(|p| p.block + 1),
                step: step.map(|step| step.name.as_str()),
                clients: step.map(|step| step.own().clients),
                code: &warning.code,
                text: analysis.warning_text(warning),
            }
        })
        .collect()
}
