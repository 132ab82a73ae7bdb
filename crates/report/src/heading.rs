//! What a report says before its figures: the run, the host, the targets.

use std::collections::BTreeSet;

use prony_model::{Config, Protocol, Target};
use prony_store::HostRow;
use serde::Deserialize;

use crate::analysis::Analysis;
use crate::document::{Align, Divide, Table};
use crate::figures::plural;

/// Facts of the run as a whole.
pub(crate) fn facts(analysis: &Analysis<'_>) -> Vec<(&'static str, String)> {
    let plan = analysis.plan;
    let run = &analysis.run;
    let dataset = &plan.dataset;
    let clients: Vec<String> = analysis
        .client_counts()
        .iter()
        .map(u32::to_string)
        .collect();
    let noun = if clients == ["1"] {
        "client"
    } else {
        "clients"
    };
    let entries: BTreeSet<usize> = plan.steps.iter().map(|step| step.entry).collect();
    let mut facts = vec![(
        "Run",
        format!(
            "{}, begun {}, Prony {}",
            run.id,
            run.started_at.strftime("%Y-%m-%d %H:%M UTC"),
            run.prony_version
        ),
    )];
    facts.extend(analysis.hosts.first().map(|host| ("Host", host_line(host))));
    facts.push((
        "Data",
        format!(
            "{} of {}",
            plural(dataset.tables.into(), "table"),
            plural(dataset.rows, "row")
        ),
    ));
    facts.push((
        "Work",
        format!(
            "{} at {} {noun}; {} of {} complete, {} of {} done",
            plural(entries.len() as u64, "step"),
            clients.join(", "),
            analysis.blocks_complete(),
            plural(plan.blocks().into(), "block"),
            analysis.counts.done,
            plural(analysis.counts.planned, "trial")
        ),
    ));
    let common = list(&common_settings(&plan.targets));
    let separator = if common.is_empty() { "" } else { ", " };
    facts.push(("Settings", format!("common baseline{separator}{common}")));
    facts
}

/// What is known of a host under these keys; others are not for this line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Host {
    cpu_model: Option<String>,
    cpus: Option<u64>,
    memory_bytes: Option<u64>,
    kernel: Option<String>,
}

/// A host in one line.
pub(crate) fn host_line(host: &HostRow) -> String {
    let host: Host = serde_json::from_str(&host.facts_json).unwrap_or_default();
    let known = [
        host.cpu_model,
        host.cpus.map(|cpus| plural(cpus, "processor")),
        host.memory_bytes
            .map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))),
        host.kernel.map(|kernel| format!("kernel {kernel}")),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    if known.is_empty() {
        "not known".into()
    } else {
        known.join(", ")
    }
}

/// What is compared.
pub(crate) fn targets(analysis: &Analysis<'_>) -> Table {
    let common = common_settings(&analysis.plan.targets);
    let rows = analysis
        .columns()
        .into_iter()
        .map(|index| {
            let target = &analysis.plan.targets[index];
            let own: BTreeSet<String> = settings(target).difference(&common).cloned().collect();
            vec![
                target.name.clone(),
                version(analysis, index),
                target.engine.name().to_owned(),
                if own.is_empty() {
                    "-".into()
                } else {
                    list(&own)
                },
            ]
        })
        .collect();
    Table {
        header: ["target", "server version", "engine", "own settings"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        align: Align::Left,
        divide: Divide::Never,
    }
}

fn version(analysis: &Analysis<'_>, target: usize) -> String {
    match &analysis.builds[target] {
        Some(build) => build.server_version.clone(),
        None => format!(
            "{} (catalogued)",
            analysis.plan.targets[target].build.version
        ),
    }
}

/// The settings that all targets share.
fn common_settings(targets: &[Target]) -> BTreeSet<String> {
    targets
        .iter()
        .map(settings)
        .reduce(|common, own| common.intersection(&own).cloned().collect())
        .unwrap_or_default()
}

/// What an experiment asked of a target, one text each.
fn settings(target: &Target) -> BTreeSet<String> {
    let Config { intents, raw } = &target.config;
    let protocol = match target.protocol {
        Protocol::Prepared => "prepared statements",
        Protocol::Text => "text statements",
    };
    let intents = intents
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let raw = raw.iter().map(|(name, value)| format!("--{name}={value}"));
    std::iter::once(protocol.to_owned())
        .chain(intents)
        .chain(raw)
        .collect()
}

fn list(items: &BTreeSet<String>) -> String {
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    items.join(", ")
}
