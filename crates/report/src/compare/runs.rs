//! The runs that are compared: throughput from the parts of their result files that it needs, other
//! metrics from all of them.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Aspect, Backend, CalibratedHost, ClientGroup, Metric, Plan, Step, Target};
use prony_store::{RunRow, Store, Subject, TrialId};
use serde_json::Value;

use crate::analysis::Analysis;
use crate::analysis::canaries::Canaries;
use crate::analysis::estimate::PlannedLooks;
use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::analysis::promises::{self, Planned};
use crate::analysis::replicates::Replicates;
use crate::analysis::sections::{self, Section};
use crate::analysis::trials::Trials;
use crate::compare::key::Key;
use crate::error::ReportError;
use crate::figures::word;

/// One run.
pub(crate) struct Run {
    /// As the user calls it, else its id.
    pub(crate) label: String,
    pub(crate) row: RunRow,
    pub(crate) plan: Plan,
    pub(crate) looks: PlannedLooks,
    /// `None` where facts are missing, or it was measured on several hosts.
    pub(crate) host: Option<Host>,
    pub(crate) replicates: Replicates,
    /// Content hash of the build of each target.
    pub(crate) builds: Vec<Option<String>>,
    /// By target and step.
    pub(crate) fingerprints: BTreeMap<(usize, usize), String>,
    /// By target, step and group; those with a figure.
    pub(crate) cells: BTreeMap<Place, Cell>,
    /// Targets and steps that broke a promised rate.
    pub(crate) broken: BTreeSet<(usize, usize)>,
    /// What is compared.
    pub(crate) metric: Metric,
    sections: Vec<Section>,
}

/// The facts by which hosts are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) facts: CalibratedHost,
    pub(crate) memory_bytes: u64,
}

/// A group of clients of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) target: usize,
    pub(crate) step: usize,
    pub(crate) group: usize,
}

/// What was measured of a group of clients of a cell.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// Values of the metric by block, from 0. All are positive.
    pub(crate) values: BTreeMap<u32, f64>,
    /// Backend by block.
    pub(crate) backends: BTreeMap<u32, String>,
    /// Blocks that a stored warning is about, by its code.
    pub(crate) warnings: BTreeMap<String, BTreeSet<u32>>,
}

impl Run {
    /// Reads the values of a metric of a run.
    ///
    /// # Errors
    /// When the result file can't be read.
    pub(crate) fn read(
        store: &Store,
        label: Option<&str>,
        metric: Metric,
    ) -> Result<Self, ReportError> {
        let row = store.run()?;
        let plan = store.plan().clone();
        let builds = store.builds()?.into_iter();
        let fingerprints = store.cells()?.into_iter();
        Ok(Self {
            label: label.unwrap_or(&row.id).to_owned(),
            looks: PlannedLooks::of(&plan),
            host: host(store)?,
            replicates: Trials::read(store)?.replicates,
            builds: builds.map(|build| Some(build?.content_hash)).collect(),
            fingerprints: fingerprints
                .map(|cell| ((cell.target, cell.step), cell.fingerprint))
                .collect(),
            cells: match metric {
                Metric::Operations => cells(store)?,
                metric => of_metric(store, metric, cells(store)?)?,
            },
            broken: broken(store)?,
            metric,
            sections: sections::of(&plan),
            plan,
            row,
        })
    }

    pub(crate) fn target(&self, place: Place) -> &Target {
        &self.plan.targets[place.target]
    }

    pub(crate) fn step(&self, place: Place) -> &Step {
        &self.plan.steps[place.step]
    }

    pub(crate) fn clients(&self, place: Place) -> &ClientGroup {
        &self.step(place).groups[place.group]
    }

    /// The value of a key for a cell; empty where there is none. `name` is the name of the step that
    /// stands for its work.
    pub(crate) fn value(&self, place: Place, name: &str, key: &Key) -> String {
        match key {
            Key::Config(setting) => self.setting(place, setting),
            Key::Parameter(parameter) => {
                let parameters = &self.clients(place).parameters;
                let value = parameters.get(parameter).map(ToString::to_string);
                value.unwrap_or_default()
            }
            Key::Named(known) => self.named(place, name, known),
        }
    }

    fn named(&self, place: Place, name: &str, key: &str) -> String {
        let (target, clients) = (self.target(place), self.clients(place));
        let host = |fact: fn(&Host) -> Option<String>| {
            self.host.as_ref().and_then(fact).unwrap_or_default()
        };
        match key {
            "run" => self.label.clone(),
            "target" => target.name.clone(),
            "build" => target.build.id.clone(),
            "family" => word(&target.build.family),
            "version" => target.build.version.to_string(),
            "engine" => word(&target.engine),
            "transport" => word(&target.transport),
            "protocol" => word(&target.protocol),
            "baseline" => target.aspect(&Aspect::Baseline),
            "backend" => {
                let cell = self.cells.get(&place);
                let backend = cell.and_then(|cell| cell.backends.values().next());
                backend.cloned().unwrap_or_default()
            }
            "host" => host(|host| Some(host.text())),
            "kernel" => host(|host| host.facts.kernel.clone()),
            "step" => name.to_owned(),
            "workload" => clients.workload.name.clone(),
            "group" => word(&clients.workload.group),
            "section" => {
                let title = sections::title(&self.sections, place.step);
                title.unwrap_or_default().to_owned()
            }
            "phase" => self
                .step(place)
                .phase
                .map(|phase| word(&phase))
                .unwrap_or_default(),
            "clients" => clients.clients.to_string(),
            "beside" => clients.name.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    fn setting(&self, place: Place, setting: &str) -> String {
        let config = &self.target(place).config;
        if let Some(value) = config.intents.get(setting) {
            return value.to_string();
        }
        config.raw.get(setting).cloned().unwrap_or_default()
    }
}

impl Host {
    /// Processors and memory in words.
    pub(crate) fn text(&self) -> String {
        let model = self
            .facts
            .cpu_model
            .as_deref()
            .unwrap_or("unknown processor");
        let memory = crate::words::bytes(self.memory_bytes);
        format!("{} × {model}, {memory}", self.facts.cpus)
    }

    /// Returns `true` if this may be the same machine with the same kernel. What the kernel leaves
    /// of the memory varies a little from boot to boot.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let (low, high) = (
            self.memory_bytes.min(other.memory_bytes),
            self.memory_bytes.max(other.memory_bytes),
        );
        self.facts == other.facts && high - low <= high / 100
    }
}

/// The host of a run, if all its facts are there and it had only one.
fn host(store: &Store) -> Result<Option<Host>, ReportError> {
    let hosts = store.hosts()?;
    let read = hosts.iter().map(|row| {
        let facts: CalibratedHost = serde_json::from_str(&row.facts_json).ok()?;
        let all: Value = serde_json::from_str(&row.facts_json).ok()?;
        let memory_bytes = all.get("memory_bytes")?.as_u64()?;
        (facts.cpu_model.is_some() && facts.kernel.is_some()).then_some(Host {
            facts,
            memory_bytes,
        })
    });
    let read: Option<Vec<Host>> = read.collect();
    let one = read.and_then(|hosts| {
        let first = hosts.first()?.clone();
        hosts
            .iter()
            .all(|host| host.is_like(&first))
            .then_some(first)
    });
    Ok(one)
}

/// The targets and steps that broke a promised rate in any block.
fn broken(store: &Store) -> Result<BTreeSet<(usize, usize)>, ReportError> {
    let steps = &store.plan().steps;
    let mut groups = steps.iter().flat_map(|step| step.groups.iter());
    if groups.all(|group| group.sla_percent.is_none()) {
        return Ok(BTreeSet::new());
    }
    let schedules = store.schedules()?.into_iter().map(|row| {
        let planned = Planned {
            operations: row.schedule.planned,
            backlog: row.schedule.backlog,
        };
        ((row.trial, row.step, row.group), planned)
    });
    let schedules: BTreeMap<_, Planned> = schedules.collect();
    let mut broken = BTreeSet::new();
    for row in store.outcomes()? {
        let step = &steps[row.step];
        let planned = schedules.get(&(row.trial, row.step, row.group));
        let group = step.groups.get(row.group);
        if let (Some(&planned), Some(group)) = (planned, group)
            && let Some(done) = promises::done(step, group, &row, planned)
            && promises::is_broken(group, done)
        {
            broken.insert((row.planned.target, row.step));
        }
    }
    Ok(broken)
}

fn cells(store: &Store) -> Result<BTreeMap<Place, Cell>, ReportError> {
    let mut cells: BTreeMap<Place, Cell> = BTreeMap::new();
    let mut trials: BTreeMap<TrialId, (usize, u32)> = BTreeMap::new();
    for row in store.outcomes()? {
        let (target, block) = (row.planned.target, row.planned.block);
        trials.insert(row.trial, (target, block));
        if store.plan().steps[row.step].warm_only || row.operations == 0 || row.busy_ns == 0 {
            continue;
        }
        let seconds = row.busy_ns as f64 / 1e9 / f64::from(row.clients);
        let cell = cells.entry(Place {
            target,
            step: row.step,
            group: row.group,
        });
        let cell = cell.or_default();
        cell.values.insert(block, row.operations as f64 / seconds);
        cell.backends.insert(block, row.backend.to_string());
        for (code, count) in [
            ("server-errors", row.errors),
            ("unexpected-answers", row.unexpected),
        ] {
            if count > 0 {
                cell.warnings
                    .entry(code.to_owned())
                    .or_default()
                    .insert(block);
            }
        }
    }
    let mut warnings = store.warnings()?;
    warnings.extend(Canaries::read(store)?.warnings(&Trials::read(store)?));
    for warning in warnings {
        let subject: Subject = warning.subject;
        let Some(&(target, block)) = subject.trial().and_then(|trial| trials.get(&trial)) else {
            continue;
        };
        let first = |target| Place {
            target,
            step: 0,
            group: 0,
        };
        for (place, cell) in cells.range_mut(first(target)..first(target + 1)) {
            let concerned = subject.step().is_none_or(|step| step == place.step)
                && subject.group().is_none_or(|group| group == place.group);
            if concerned && cell.values.contains_key(&block) {
                let blocks = cell.warnings.entry(warning.code.clone()).or_default();
                blocks.insert(block);
            }
        }
    }
    Ok(cells)
}

/// Cells of throughput with the values of another metric in place of it, and their backends. Cells
/// without any value are left out, and amounts that are too small for a ratio.
fn of_metric(
    store: &Store,
    metric: Metric,
    cells: BTreeMap<Place, Cell>,
) -> Result<BTreeMap<Place, Cell>, ReportError> {
    let analysis = Analysis::of(store)?;
    let least = metric.facts().least.max(f64::MIN_POSITIVE);
    let of_cell = |(place, cell): (Place, Cell)| {
        let mut cell = Cell {
            values: BTreeMap::new(),
            backends: BTreeMap::new(),
            ..cell
        };
        for (block, backend, value) in values(&analysis, metric, place) {
            if value >= least {
                cell.values.insert(block - 1, value);
                cell.backends.insert(block - 1, backend.to_string());
            }
        }
        let blocks: BTreeSet<u32> = cell.values.keys().copied().collect();
        let costs = analysis.costs.cell(place.step, place.target);
        if place.group == 0 && costs.is_doubtful(metric) {
            let code = "doubtful-cost".to_owned();
            cell.warnings.insert(code, blocks.clone());
        }
        for concerned in cell.warnings.values_mut() {
            concerned.retain(|block| blocks.contains(block));
        }
        cell.warnings.retain(|_, concerned| !concerned.is_empty());
        (!blocks.is_empty()).then_some((place, cell))
    };
    Ok(cells.into_iter().filter_map(of_cell).collect())
}

/// The values of a metric in the trials of a cell, with their blocks, from 1, and backends: figures of
/// the load generator are those of the group, costs those of the step.
fn values(analysis: &Analysis<'_>, metric: Metric, place: Place) -> Vec<(u32, Backend, f64)> {
    let group = GroupId {
        step: place.step,
        position: place.group,
    };
    if Metric::figures().any(|figure| figure == metric) {
        let measured = analysis.cells.at(group, place.target).measurements.iter();
        let value = |of: &Measurement| {
            let value = of.value(metric)?;
            Some((of.block_number(), of.row().backend, value))
        };
        return measured.filter_map(value).collect();
    }
    let trials = &analysis.costs.cell(place.step, place.target).trials;
    let own = trials.values(metric).filter(|_| group.is_own());
    own.map(|(trial, value)| (trial.block, trial.backend(), value.amount))
        .collect()
}
