//! A run as tables, for programs that filter, join, pivot and fit.
//!
//! Values are as exact as they are known, nothing is formatted, and null stands for what is not known.
//! Every table repeats its key columns in each row, so that it can be read alone. The columns are
//! described in `docs/formats/export.md`, from the same comments as here.

mod cells;
mod facts;
mod latency;
mod measurements;
mod rows;
mod settings;
mod table;

pub use self::rows::{
    Cell, Host, Interval, Latency, Load, Measurement, Outcome, Setting, Step, Target, Text, Trial,
    Warning,
};
pub use self::table::{Column, Kind, Value};

use std::collections::BTreeSet;

use prony_model::{Counter, Metric, Plan};
use prony_store::Store;

use self::table::Row;
use crate::analysis::Analysis;
use crate::analysis::costs;
use crate::analysis::group::GroupId;
use crate::error::ReportError;

/// The version of the tables. Changes whenever a table or column vanishes or changes its meaning.
pub const FORMAT: u32 = 1;

/// The tables of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// Values of metrics, one for each trial: the one to begin with.
    Measurements,
    /// Metrics over the blocks, with ratios and verdicts.
    Cells,
    /// Raw counts.
    Outcomes,
    /// Attempts at trials.
    Trials,
    /// Counts of reporting periods.
    Intervals,
    /// Histograms of times.
    Latency,
    /// Loads of the data.
    Loads,
    /// What is compared.
    Targets,
    /// What is run.
    Steps,
    /// Settings of the servers.
    Settings,
    /// Facts of the machine.
    Hosts,
    /// Conditions that do not stop analysis.
    Warnings,
}

/// Rows of values, one for each column. An error ends them.
pub type Rows<'a> = Box<dyn Iterator<Item = Result<Vec<Value<'a>>, ReportError>> + 'a>;

/// A stored run as tables.
#[derive(Debug)]
pub struct Tables<'s> {
    store: &'s Store,
    analysis: Analysis<'s>,
    /// Counters of the servers that grew anywhere in the run: most never do.
    grown: BTreeSet<Counter>,
}

impl Table {
    /// Every table, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Measurements,
        Self::Cells,
        Self::Outcomes,
        Self::Trials,
        Self::Intervals,
        Self::Latency,
        Self::Loads,
        Self::Targets,
        Self::Steps,
        Self::Settings,
        Self::Hosts,
        Self::Warnings,
    ];

    /// Its name, which is also that of its file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measurements => "measurements",
            Self::Cells => "cells",
            Self::Outcomes => "outcomes",
            Self::Trials => "trials",
            Self::Intervals => "intervals",
            Self::Latency => "latency",
            Self::Loads => "loads",
            Self::Targets => "targets",
            Self::Steps => "steps",
            Self::Settings => "settings",
            Self::Hosts => "hosts",
            Self::Warnings => "warnings",
        }
    }

    /// Its columns, keys first.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Measurements => Measurement::COLUMNS,
            Self::Cells => Cell::COLUMNS,
            Self::Outcomes => Outcome::COLUMNS,
            Self::Trials => Trial::COLUMNS,
            Self::Intervals => Interval::COLUMNS,
            Self::Latency => Latency::COLUMNS,
            Self::Loads => Load::COLUMNS,
            Self::Targets => Target::COLUMNS,
            Self::Steps => Step::COLUMNS,
            Self::Settings => Setting::COLUMNS,
            Self::Hosts => Host::COLUMNS,
            Self::Warnings => Warning::COLUMNS,
        }
    }
}

impl<'s> Tables<'s> {
    /// Reads the run and derives its figures.
    ///
    /// # Errors
    /// If the result file can't be read or is damaged.
    pub fn of(store: &'s Store) -> Result<Self, ReportError> {
        let analysis = Analysis::of(store)?;
        let grown = analysis.costs.counters().into_iter().cloned().collect();
        Ok(Self {
            store,
            analysis,
            grown,
        })
    }

    /// Id of the run.
    pub fn run(&self) -> &str {
        &self.analysis.run.id
    }

    /// The rows of a table. The same run gives the same rows in the same order.
    pub fn rows(&self, table: Table) -> Rows<'_> {
        match table {
            Table::Measurements => values(self.measurements()),
            Table::Cells => match self.cells() {
                Ok(cells) => values(cells.into_iter()),
                Err(error) => Box::new(std::iter::once(Err(error))),
            },
            Table::Outcomes => match self.outcomes() {
                Ok(outcomes) => values(outcomes.into_iter()),
                Err(error) => Box::new(std::iter::once(Err(error))),
            },
            Table::Trials => values(self.trials()),
            Table::Intervals => flat(self.intervals()),
            Table::Latency => flat(self.latency()),
            Table::Loads => values(self.loads()),
            Table::Targets => values(self.targets()),
            Table::Steps => values(self.steps()),
            Table::Settings => values(self.settings()),
            Table::Hosts => values(self.hosts()),
            Table::Warnings => values(self.warnings()),
        }
    }

    fn plan(&self) -> &'s Plan {
        self.analysis.plan
    }

    fn run_text(&self) -> Text<'_> {
        self.run().into()
    }

    fn target_name(&self, target: usize) -> Text<'_> {
        self.plan().targets[target].name.as_str().into()
    }

    fn step_name(&self, step: usize) -> Text<'_> {
        self.plan().steps[step].name.as_str().into()
    }

    /// Clients of the step itself.
    fn step_clients(&self, step: usize) -> u64 {
        self.plan().steps[step].own().clients.into()
    }

    fn beside(&self, group: GroupId) -> Option<Text<'_>> {
        let name = group.of(self.plan()).name.as_deref();
        name.map(Into::into)
    }

    /// The divisor of a metric at a step; `None` if it is not divided.
    fn per(&self, step: usize, metric: Metric) -> Option<Text<'static>> {
        let is_divided = metric.facts().heading.ends_with("/o");
        is_divided.then(|| costs::unit(self.plan(), step).name().into())
    }
}

fn values<'a, T: Row<'a>>(rows: impl Iterator<Item = T> + 'a) -> Rows<'a> {
    Box::new(rows.map(|row| Ok(row.values())))
}

/// Rows that are read part by part.
fn flat<'a, T: Row<'a>>(parts: impl Iterator<Item = Result<Vec<T>, ReportError>> + 'a) -> Rows<'a> {
    Box::new(parts.flat_map(|part| match part {
        Ok(rows) => rows.into_iter().map(|row| Ok(row.values())).collect(),
        Err(error) => vec![Err(error)],
    }))
}

/// JSON on one line.
fn json<T: serde::Serialize + ?Sized>(value: &T) -> Text<'static> {
    serde_json::to_string(value).unwrap_or_default().into()
}
