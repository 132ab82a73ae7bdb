//! `[sequence]` and `[[step]]`, expanded over the numbers of clients.

use std::collections::BTreeMap;

use prony_model::{Length, Step, Timing, Workload};
use toml::de::DeValue;

use super::{DatasetRead, fit, read_clients};
use crate::duration::Milliseconds;
use crate::fields::{Fields, Located, NAME_RULE, Value, is_name, unknown};
use crate::invalid::{Document, Problem, Read, Span};
use crate::suggest;
use crate::workload::PARAMETER_MAX;

/// Warm-up of a step where nothing else is written.
const DEFAULT_WARMUP_MS: u64 = 1000;

/// Most operations of a step that is limited by their number.
const OPERATIONS_MAX: i64 = 1_000_000_000_000;

/// How a length of time is written.
const TIME_RULE: &str = "write a whole number and a unit: \"500ms\", \"10s\", \"5m\", \"2h\"";

/// What steps are read against.
pub(super) struct Sequence<'a> {
    /// Numbers of clients of the steps that set none.
    pub(super) clients: Vec<u32>,
    /// The dataset, where it could be read.
    pub(super) dataset: Option<&'a DatasetRead>,
    pub(super) workloads: &'a [Workload],
}

/// What `[sequence]` sets for all steps.
#[derive(Debug, Default)]
struct Defaults {
    warmup_ms: Option<u64>,
    time_ms: Option<u64>,
}

/// Stands in for defaults that could not be read, so that steps do not seem to lack a time.
const STAND_IN: Defaults = Defaults {
    warmup_ms: None,
    time_ms: Some(1),
};

/// One `[[step]]`, expanded.
struct Entry {
    place: Span,
    steps: Vec<Step>,
}

impl Sequence<'_> {
    /// Reads the steps in their order, each at its numbers of clients.
    pub(super) fn read(&self, root: &mut Fields<'_>) -> Read<Vec<Step>> {
        let document = root.document();
        let defaults = root.optional("sequence", read_defaults);
        let tables = root.tables("step", "a step")?;
        if tables.is_empty() {
            return Err(document.report(
                Problem::new("an experiment needs at least one step")
                    .at(&root.span(), "no [[step]] in this file")
                    .help("write [[step]] with `workload = \"…\"` below it, once for each step"),
            ));
        }
        // Wrong defaults are reported; the steps are read all the same, for their own problems.
        let defaults = defaults.unwrap_or(Some(STAND_IN)).unwrap_or_default();
        let entries: Vec<_> = tables
            .into_iter()
            .enumerate()
            .map(|(entry, fields)| self.read_entry(entry, fields, &defaults))
            .collect();
        let entries: Vec<_> = entries.into_iter().collect::<Read<_>>()?;
        check_unique(document, &entries)?;
        Ok(entries.into_iter().flat_map(|entry| entry.steps).collect())
    }

    fn read_entry(&self, entry: usize, mut fields: Fields<'_>, defaults: &Defaults) -> Read<Entry> {
        let document = fields.document();
        let workload = fields.required("workload", |value| find(value, self.workloads));
        let name = fields.optional("name", Value::name);
        let parameters = fields.optional("parameters", |value| value.table("the parameters"));
        let warmup = fields.optional("warmup", |value| read_time(&value, 0));
        let length = read_length(&mut fields, defaults);
        let clients = fields.optional("clients", read_clients);
        fields.finish()?;

        let workload = workload?;
        let set = match parameters? {
            Some(fields) => read_parameters(fields, workload.value)?,
            None => BTreeMap::new(),
        };
        let name = match name? {
            Some(name) => name.map(str::to_owned),
            None => default_name(document, &workload, &set)?,
        };
        let warmup_ms = warmup?.or(defaults.warmup_ms).unwrap_or(DEFAULT_WARMUP_MS);
        let length = length?;
        let mut parameters = workload.value.parameters.clone();
        parameters.extend(set);
        let workload = self.fit(document, &workload, &parameters)?;
        let at_clients = |clients| Step {
            name: name.value.clone(),
            entry,
            workload: workload.clone(),
            parameters: parameters.clone(),
            clients,
            warmup_ms,
            length,
            phase: None,
            warm_only: false,
            settle: None,
            timing: Timing::Operations,
        };
        let clients = clients?.unwrap_or_else(|| self.clients.clone());
        Ok(Entry {
            steps: clients.into_iter().map(at_clients).collect(),
            place: name.span,
        })
    }

    /// The workload as it runs on the dataset, if it can.
    fn fit(
        &self,
        document: &Document<'_>,
        workload: &Located<&Workload>,
        parameters: &BTreeMap<String, i64>,
    ) -> Read<Workload> {
        let Some(read) = self.dataset else {
            return Ok(workload.value.clone());
        };
        fit::resolve(workload.value, &read.dataset, parameters).map_err(|misfit| {
            let problem =
                Problem::new(misfit.to_string()).at(&workload.span, "this step can't run");
            let problem = match misfit.about(&read.dataset) {
                Some(label) => problem.at(&read.rows, label),
                None => problem,
            };
            document.report(problem.help(misfit.help()))
        })
    }
}

fn read_defaults(value: Value<'_>) -> Read<Defaults> {
    let mut fields = value.table("the sequence")?;
    let warmup = fields.optional("warmup", |value| read_time(&value, 0));
    let time = fields.optional("time", |value| read_time(&value, 1));
    let preset = fields.not_yet("preset", "write the sequence as [[step]] entries");
    fields.finish()?;
    preset?;
    Ok(Defaults {
        warmup_ms: warmup?,
        time_ms: time?,
    })
}

/// Reads a length of time of at least `least_ms`, in milliseconds.
fn read_time(value: &Value<'_>, least_ms: u64) -> Read<u64> {
    let document = value.document();
    if matches!(value.inner(), DeValue::Integer(_) | DeValue::Float(_)) {
        return Err(document.report(
            Problem::new("a length of time needs its unit")
                .at(&value.span(), "seconds? minutes?")
                .help(TIME_RULE),
        ));
    }
    let text = value.clone().text()?;
    match text.value.parse::<Milliseconds>() {
        Ok(time) if time.0 >= least_ms => Ok(time.0),
        Ok(_) => Err(value.report("must be longer than 0", "nothing would be measured")),
        Err(error) => Err(document.report(
            Problem::new(error.to_string())
                .at(&text.span, "not a length of time")
                .help(TIME_RULE),
        )),
    }
}

/// How long the step measures: its own `time` or `operations`, else the time of the sequence.
fn read_length(fields: &mut Fields<'_>, defaults: &Defaults) -> Read<Length> {
    let document = fields.document();
    let place = fields.span();
    let time = fields.optional("time", |value| Ok((value.span(), read_time(&value, 1)?)));
    let operations = fields.optional("operations", |value| value.count::<u64>(1..=OPERATIONS_MAX));
    let problem = match (time?, operations?) {
        (Some((_, ms)), None) => return Ok(Length::Time { ms }),
        (None, Some(operations)) => {
            return Ok(Length::Count {
                operations: operations.value,
            });
        }
        (None, None) => match defaults.time_ms {
            Some(ms) => return Ok(Length::Time { ms }),
            None => Problem::new("a step needs `time` or `operations`")
                .at(&place, "no end")
                .help("write them in the step, or `time` in [sequence] for all steps"),
        },
        (Some((time, _)), Some(operations)) => {
            Problem::new("a step ends after a `time` or after a number of `operations`, not both")
                .at(&time, "this")
                .at(&operations.span, "or this")
                .help("remove one of them")
        }
    };
    Err(document.report(problem))
}

fn find<'w>(value: Value<'_>, workloads: &'w [Workload]) -> Read<Located<&'w Workload>> {
    let document = value.document();
    let name = value.text()?;
    if let Some(workload) = workloads
        .iter()
        .find(|workload| workload.name == name.value)
    {
        return Ok(name.map(|_| workload));
    }
    let known: Vec<_> = workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    Err(document.report(unknown("workload", &name, &known)))
}

fn read_parameters(fields: Fields<'_>, workload: &Workload) -> Read<BTreeMap<String, i64>> {
    let known: Vec<_> = workload.parameters.keys().map(String::as_str).collect();
    let read: Vec<_> = fields
        .entries()
        .into_iter()
        .map(|(name, value)| {
            if !known.contains(&name.value) {
                let kind = format!("parameters of {}", workload.name);
                return Err(value.document().report(
                    Problem::new(format!(
                        "the workload `{}` has no parameter `{}`",
                        workload.name, name.value
                    ))
                    .at(&name.span, "not defined")
                    .help(suggest::help(name.value, &kind, &known)),
                ));
            }
            let number = value.integer(-PARAMETER_MAX..=PARAMETER_MAX)?;
            Ok((name.value.to_owned(), number.value))
        })
        .collect();
    read.into_iter().collect()
}

/// The workload's name and every parameter that the step sets: `read-only.range1000`.
fn default_name(
    document: &Document<'_>,
    workload: &Located<&Workload>,
    set: &BTreeMap<String, i64>,
) -> Read<Located<String>> {
    let parameters = set.iter().map(|(name, value)| format!(".{name}{value}"));
    let name: String = std::iter::once(workload.value.name.clone())
        .chain(parameters)
        .collect();
    if !is_name(&name) {
        return Err(document.report(
            Problem::new(format!("`{name}` can't be the name of a step"))
                .at(&workload.span, "needs a `name`")
                .help(NAME_RULE),
        ));
    }
    Ok(Located {
        value: name,
        span: workload.span.clone(),
    })
}

/// Checks that a name and a number of clients mean one step.
fn check_unique(document: &Document<'_>, entries: &[Entry]) -> Read<()> {
    let mut seen = BTreeMap::new();
    for entry in entries {
        for step in &entry.steps {
            if let Some(first) = seen.insert((&step.name, step.clients), &entry.place) {
                return Err(document.report(
                    Problem::new(format!("two steps are named `{}`", step.name))
                        .at(&entry.place, "here again")
                        .at(first, "first here")
                        .help("set `name` in one of them"),
                ));
            }
        }
    }
    Ok(())
}
