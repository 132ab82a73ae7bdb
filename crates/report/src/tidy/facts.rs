//! Facts of the run: trials, loads, targets, steps, hosts and warnings.

use std::collections::BTreeMap;

use prony_model::{Length, Pace, Thousandths, Version};
use serde::Deserialize;
use serde_json::Value;

use super::{Host, Load, Step, Tables, Target, Text, Trial, Warning, json};
use crate::analysis::group::GroupId;
use crate::analysis::sections;
use crate::format::{intent, object};

/// The facts of a host that have columns.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Facts {
    cpu_model: Option<String>,
    cpus: Option<u64>,
    memory_bytes: Option<u64>,
    kernel: Option<String>,
}

impl Tables<'_> {
    /// Every attempt at every trial, in the order in which they began.
    pub fn trials(&self) -> impl Iterator<Item = Trial<'_>> {
        let trials = self.analysis.trials.all();
        trials.map(|trial| {
            let planned = trial.planned;
            let of_block = self.plan().trials.iter();
            let mut of_block = of_block.filter(|other| other.block == planned.block);
            let position = of_block.position(|other| *other == planned);
            Trial {
                run: self.run_text(),
                target: self.target_name(planned.target),
                block: u64::from(planned.block) + 1,
                trial_kind: planned.kind.name().into(),
                attempt: trial.attempt.into(),
                state: trial.state.name().into(),
                order_in_block: position.map_or(0, |position| position as u64 + 1),
                host: trial.host as u64 + 1,
                began_at: trial.began_at,
                ended_at: trial.ended_at,
                reason: trial.reason.as_deref().map(Into::into),
            }
        })
    }

    /// The loads of which anything is known, by target.
    pub fn loads(&self) -> impl Iterator<Item = Load<'_>> {
        let targets = self.analysis.loads.iter().enumerate();
        targets.flat_map(move |(target, loads)| {
            loads.done.iter().filter_map(move |load| {
                let outcome = load.row.outcome.as_ref()?;
                Some(Load {
                    run: self.run_text(),
                    target: self.target_name(target),
                    block: load.block.map(Into::into),
                    rows: outcome.rows,
                    rows_s: outcome.rows_ns as f64 / 1e9,
                    indexes_s: outcome.index_ns as f64 / 1e9,
                    rows_per_second: outcome.rows_per_second(),
                    method: outcome.method.as_str().into(),
                    reused: load.row.reused,
                })
            })
        })
    }

    /// The targets, in the order of the experiment.
    pub fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        let targets = 0..self.plan().targets.len();
        targets.map(|target| self.target(target))
    }

    fn target(&self, index: usize) -> Target<'_> {
        let plan = self.plan();
        let target = &plan.targets[index];
        let build = self.analysis.builds[index].as_ref();
        let reported = build.and_then(|build| Version::from_server(&build.server_version).ok());
        let version = reported.unwrap_or(target.build.version);
        let intents = target.config.intents.iter();
        let intents: BTreeMap<&String, Value> =
            intents.map(|(name, value)| (name, intent(value))).collect();
        let is_external = target.external.is_some();
        Target {
            run: self.run_text(),
            target: self.target_name(index),
            is_base: plan.is_base(index),
            is_twin: Some(index) == plan.twin,
            target_order: index as u64 + 1,
            build: target.build.id.as_str().into(),
            family: target.build.family.name().into(),
            server_version: build.map(|build| build.server_version.as_str().into()),
            version_major: version.major.into(),
            version_minor: version.minor.into(),
            version_patch: version.patch.into(),
            build_hash: build.map(|build| build.content_hash.as_str().into()),
            engine: target.engine.name().into(),
            protocol: target.protocol.name().into(),
            transport: (!is_external).then(|| target.transport.name().into()),
            is_external,
            config: json(&object! {
                baseline: target.config.baseline,
                intents: intents,
                raw: &target.config.raw,
            }),
        }
    }

    /// The groups of clients of all steps, in the order of the sequence.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        GroupId::all(self.plan()).map(|group| self.step(group))
    }

    fn step(&self, group: GroupId) -> Step<'_> {
        let plan = self.plan();
        let (step, clients) = (&plan.steps[group.step], group.of(plan));
        let workload = &clients.workload;
        let (rate, think) = match clients.pace {
            Pace::Closed { think } => (None, think),
            Pace::Open { rate, .. } => (Some(rate), None),
        };
        let (measure_ms, measure_operations) = match step.length {
            Length::Time { ms } => (Some(ms), None),
            Length::Count { operations } => (None, Some(operations)),
        };
        let section = sections::title(&self.analysis.sections, group.step);
        Step {
            run: self.run_text(),
            step: self.step_name(group.step),
            clients: self.step_clients(group.step),
            beside: self.beside(group),
            step_order: group.step as u64 + 1,
            connections: clients.clients.into(),
            workload: workload.name.as_str().into(),
            workload_group: workload.group.name().into(),
            effect: workload.effect.name().into(),
            section: section.map(Into::into),
            phase: step.phase.map(|phase| phase.name().into()),
            warm_only: step.warm_only,
            timing: step.timing.name().into(),
            display: workload.display.name().into(),
            rate_per_second: rate.map(Thousandths::as_f64),
            think_us: think.map(|think| think.mean_us),
            reconnect_every: clients.reconnect_every,
            warmup_s: seconds(step.warmup_ms),
            measure_s: measure_ms.map(seconds),
            measure_operations,
            parameters: json(&clients.parameters),
            statements: json(&workload.statements),
        }
    }

    /// The records of the host, in their order.
    pub fn hosts(&self) -> impl Iterator<Item = Host<'_>> {
        let hosts = self.analysis.hosts.iter().enumerate();
        hosts.map(|(index, host)| {
            let facts: Facts = serde_json::from_str(&host.facts_json).unwrap_or_default();
            let text = |text: Option<String>| text.map(Text::from);
            Host {
                run: self.run_text(),
                host: index as u64 + 1,
                recorded_at: host.recorded_at,
                cpu_model: text(facts.cpu_model),
                cpus: facts.cpus,
                memory_bytes: facts.memory_bytes,
                kernel: text(facts.kernel),
                facts: host.facts_json.as_str().into(),
                findings: json(&host.findings),
            }
        })
    }

    /// All warnings: stored ones, then those that follow from samples and counts.
    pub fn warnings(&self) -> impl Iterator<Item = Warning<'_>> {
        let warnings = self.analysis.warnings.iter().enumerate();
        warnings.map(|(index, warning)| {
            let subject = warning.subject;
            let trial = subject.trial().and_then(|id| self.analysis.trials.get(id));
            let planned = trial.map(|trial| trial.planned);
            let group = subject.step().zip(subject.group());
            let group = group.map(|(step, position)| GroupId { step, position });
            Warning {
                run: self.run_text(),
                warning: index as u64 + 1,
                target: planned.map(|planned| self.target_name(planned.target)),
                block: planned.map(|planned| u64::from(planned.block) + 1),
                step: subject.step().map(|step| self.step_name(step)),
                clients: subject.step().map(|step| self.step_clients(step)),
                beside: group.and_then(|group| self.beside(group)),
                code: warning.code.as_str().into(),
                text: warning.text.as_str().into(),
            }
        })
    }
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1e3
}
