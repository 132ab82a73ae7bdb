//! One row per target, step and block, for spreadsheets. RFC 4180, line ends of Unix.

mod costs;
mod ratios;
mod settings;
mod verdicts;
pub(crate) mod view;

use std::slice;

use prony_model::{ClientGroup, CpuSet, DebtKind, Metric, Pace, Placement, Step, Target};
use prony_store::Subject;

use self::costs::CostColumn;
use self::ratios::RatioColumn;
pub(crate) use self::settings::settings;
use self::verdicts::VerdictColumn;
use crate::analysis::Analysis;
use crate::analysis::evenness::{self, Evenness};
use crate::analysis::group::GroupId;
use crate::analysis::loads::DoneLoad;
use crate::analysis::measurement::Measurement;
use crate::analysis::sections;
use crate::analysis::times::Times;
use crate::error::ReportError;
use crate::figures::word;

/// One row: of a load, or of a measurement.
struct Row<'a> {
    analysis: &'a Analysis<'a>,
    target: usize,
    /// As if it were a step whose operations are rows.
    load: Option<&'a DoneLoad>,
    /// With its service times.
    measured: Option<(GroupId, &'a Measurement, Option<Times>)>,
}

/// A heading and the field below it; empty where a row has none.
type Column = (&'static str, fn(&Row<'_>) -> Option<String>);

/// The phase, and the step, under which loads are listed.
const LOAD: &str = "load";

/// The columns before those for debt.
const FIRST: [Column; 24] = [
    ("target", |row| Some(row.target().name.clone())),
    ("server_version", |row| {
        let build = row.analysis.builds[row.target].as_ref()?;
        Some(build.server_version.clone())
    }),
    ("engine", |row| Some(row.target().engine.name().to_owned())),
    ("base", |row| {
        yes_or_no(row.analysis.plan.is_base(row.target))
    }),
    ("step", |row| match row.load {
        Some(_) => Some(LOAD.to_owned()),
        None => Some(row.step()?.name.clone()),
    }),
    ("clients", |row| {
        count(row.measurement()?.row().clients.into())
    }),
    ("block", |row| match row.load {
        Some(load) => count(load.block?.into()),
        None => count(row.measurement()?.block_number().into()),
    }),
    ("operations", |row| match row.load {
        Some(load) => count(load.row.outcome.as_ref()?.rows),
        None => count(row.measurement()?.row().operations),
    }),
    ("queries", |row| count(row.measurement()?.row().queries)),
    ("queries_per_second", |row| {
        figure(row.measurement()?.value(Metric::Queries))
    }),
    ("operations_per_second", |row| match row.load {
        Some(load) => figure(load.rows_per_second()),
        None => figure(row.measurement()?.value(Metric::Operations)),
    }),
    ("latency_us_mean", |row| figure(Some(row.service()?.mean))),
    ("latency_us_p50", |row| figure(row.service()?.p50)),
    ("latency_us_p95", |row| figure(row.service()?.p95)),
    ("latency_us_p99", |row| figure(row.service()?.p99)),
    ("latency_us_max", |row| figure(Some(row.service()?.max))),
    ("errors", |row| count(row.measurement()?.row().errors)),
    ("unexpected", |row| {
        count(row.measurement()?.row().unexpected)
    }),
    ("client_cpu_us_per_operation", |row| {
        figure(row.measurement()?.client_cpu_us_per_operation())
    }),
    ("warnings", |row| Some(row.warnings()?.to_string())),
    ("section", |row| {
        let title = sections::title(&row.analysis.sections, row.group()?.step)?;
        Some(title.to_owned())
    }),
    ("phase", |row| match row.load {
        Some(_) => Some(LOAD.to_owned()),
        None => row.step()?.phase.as_ref().map(word),
    }),
    ("warm_only", |row| {
        yes_or_no(row.step().is_some_and(|step| step.warm_only))
    }),
    ("timing", |row| Some(word(&row.step()?.timing))),
];

/// The columns after those for debt: of paces, groups, reconnecting, placement, twins and evenness.
const LAST: [Column; 26] = [
    ("backend", |row| {
        Some(row.measurement()?.row().backend.name().to_owned())
    }),
    ("beside", |row| row.clients()?.name.clone()),
    ("rate", |row| match row.clients()?.pace {
        Pace::Open { rate, .. } => Some(rate.to_string()),
        Pace::Closed { .. } => None,
    }),
    ("planned", |row| count(row.measurement()?.schedule?.planned)),
    ("backlog", |row| count(row.measurement()?.schedule?.backlog)),
    ("left", |row| count(row.measurement()?.schedule?.left)),
    ("response_us_mean", |row| figure(Some(row.response()?.mean))),
    ("response_us_p50", |row| figure(row.response()?.p50)),
    ("response_us_p95", |row| figure(row.response()?.p95)),
    ("response_us_p99", |row| figure(row.response()?.p99)),
    ("response_us_max", |row| figure(Some(row.response()?.max))),
    ("schedule_error_us_p99", |row| {
        figure(row.measurement()?.schedule?.error?.p99)
    }),
    ("connects", |row| count(row.measurement()?.connects?.count)),
    ("connect_us_mean", |row| {
        figure(Some(row.measurement()?.connects?.times?.mean))
    }),
    ("connect_us_p99", |row| {
        figure(row.measurement()?.connects?.times?.p99)
    }),
    ("placement", |row| {
        Some(row.placement()?.rule.name().to_owned())
    }),
    ("session_cpus", |row| {
        cpus(row.placement()?.processors.sessions.as_ref())
    }),
    ("background_cpus", |row| {
        cpus(row.placement()?.processors.background.as_ref())
    }),
    ("generator_cpus", |row| {
        cpus(row.placement()?.processors.generator.as_ref())
    }),
    ("twin", |row| {
        yes_or_no(Some(row.target) == row.analysis.plan.twin)
    }),
    ("intervals", |row| count(row.evenness()?.intervals as u64)),
    ("interval_rate_median", |row| {
        figure(Some(row.evenness()?.median))
    }),
    ("interval_rate_p1", |row| figure(row.evenness()?.hundredth)),
    ("interval_rate_slowest", |row| {
        figure(Some(row.evenness()?.slowest))
    }),
    ("intervals_idle", |row| count(row.evenness()?.idle as u64)),
    ("slice_rates", |row| {
        let rates = row.evenness()?.slices?.into_iter();
        let rates: Option<Vec<String>> = rates.map(|rate| figure(Some(rate))).collect();
        Some(rates?.join(";"))
    }),
];

/// The column of runs whose targets have different bases.
const RELATIVE_TO: Column = ("relative_to", |row| {
    let plan = row.analysis.plan;
    Some(plan.targets[plan.other_base_of(row.target)?].name.clone())
});

/// Writes the header and all rows, by target: its loads, then by step and block.
pub(crate) fn write(analysis: &Analysis<'_>) -> Result<String, ReportError> {
    let costs = costs::columns(analysis);
    let verdicts = verdicts::columns(analysis);
    let ratios = ratios::columns(analysis);
    let names = |columns: &[Column]| -> Vec<String> {
        columns.iter().map(|(name, _)| (*name).to_owned()).collect()
    };
    let debts = DebtKind::all().map(|kind| format!("debt_{}", word(&kind).replace('-', "_")));
    let header: Vec<String> = names(&FIRST)
        .into_iter()
        .chain(debts)
        .chain(names(&LAST))
        .chain(costs.iter().map(CostColumn::name))
        .chain(verdicts.iter().map(VerdictColumn::name))
        .chain(ratios.iter().map(|column| column.name.to_owned()))
        .chain(names(relative_to(analysis)))
        .collect();
    let mut text = line(&header);
    for target in 0..analysis.plan.targets.len() {
        let row = |load, measured| Row {
            analysis,
            target,
            load,
            measured,
        };
        let loads = analysis.loads[target].done.iter();
        for load in loads.filter(|load| load.row.outcome.is_some()) {
            text.push_str(&row(Some(load), None).line(&costs, &verdicts, ratios));
        }
        for group in GroupId::all(analysis.plan) {
            for measurement in &analysis.cells.at(group, target).measurements {
                let measured = (group, measurement, measurement.service()?);
                text.push_str(&row(None, Some(measured)).line(&costs, &verdicts, ratios));
            }
        }
    }
    Ok(text)
}

/// The column of bases where a row must name its own.
fn relative_to(analysis: &Analysis<'_>) -> &'static [Column] {
    if analysis.plan.has_several_bases() {
        &[RELATIVE_TO]
    } else {
        &[]
    }
}

impl Row<'_> {
    fn line(
        &self,
        costs: &[CostColumn<'_>],
        verdicts: &[VerdictColumn],
        ratios: &[RatioColumn],
    ) -> String {
        let field = |(_, field): &Column| field(self);
        let debt = |kind| Some(self.measurement()?.debt.get(&kind)?.to_string());
        let cost = |column: &CostColumn<'_>| column.field(self);
        let fields = FIRST.iter().map(field).chain(DebtKind::all().map(debt));
        let fields = fields
            .chain(LAST.iter().map(field))
            .chain(costs.iter().map(cost))
            .chain(verdicts.iter().map(|column| column.field(self)))
            .chain(ratios.iter().map(|column| column.field(self)))
            .chain(relative_to(self.analysis).iter().map(field));
        line(&fields.map(Option::unwrap_or_default).collect::<Vec<_>>())
    }

    fn target(&self) -> &Target {
        &self.analysis.plan.targets[self.target]
    }

    fn measurement(&self) -> Option<&Measurement> {
        self.measured.map(|(_, measurement, _)| measurement)
    }

    fn group(&self) -> Option<GroupId> {
        self.measured.map(|(group, ..)| group)
    }

    fn service(&self) -> Option<Times> {
        self.measured?.2
    }

    fn response(&self) -> Option<Times> {
        self.measurement()?.schedule?.response
    }

    fn evenness(&self) -> Option<Evenness> {
        evenness::of(slice::from_ref(self.measurement()?))
    }

    fn placement(&self) -> Option<&Placement> {
        self.measurement()?.placement()
    }

    fn step(&self) -> Option<&Step> {
        Some(&self.analysis.plan.steps[self.group()?.step])
    }

    fn clients(&self) -> Option<&ClientGroup> {
        Some(self.group()?.of(self.analysis.plan))
    }

    /// Number of stored warnings about these clients in this trial. Those about the whole trial are
    /// counted with the steps' own clients.
    fn warnings(&self) -> Option<usize> {
        let measurement = self.measurement()?;
        let is_own = self.group()?.is_own();
        let of_trial =
            self.analysis.warnings.iter().filter(|warning| {
                is_own && warning.subject == Subject::Trial(measurement.row().trial)
            });
        Some(measurement.warnings.len() + of_trial.count())
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the field of a column may be empty"
)]
fn count(count: u64) -> Option<String> {
    Some(count.to_string())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the field of a column may be empty"
)]
fn yes_or_no(value: bool) -> Option<String> {
    Some(if value { "yes" } else { "no" }.to_owned())
}

fn cpus(cpus: Option<&CpuSet>) -> Option<String> {
    cpus.map(ToString::to_string)
}

/// A figure to thousandths.
fn figure(value: Option<f64>) -> Option<String> {
    value.map(|value| format!("{value:.3}"))
}

fn line(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    format!("{}\n", fields.join(","))
}

pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
    }
}
