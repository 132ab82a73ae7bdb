//! Experiment files: what is compared, on which data, by which steps, how often.

mod base;
mod config;
mod expand;
mod external;
mod fit;
mod matrix;
mod name;
mod order;
mod refusal;
mod setting;
mod step;
mod target;

use std::path::Path;

use prony_model::{BuildFacts, Dataset, IntentFacts, Plan, Target, Workload};

use crate::fields::{Fields, Located, Value, is_name_char};
use crate::invalid::{Invalid, Problem, Read, Span, read_toml};

pub use refusal::Refused;

/// What an experiment is checked against.
#[derive(Clone, Copy)]
pub struct Knowledge<'a> {
    /// The builds of the catalogue.
    pub builds: &'a [BuildFacts],
    /// The intents that a configuration can state.
    pub intents: &'a [IntentFacts],
    /// The workloads that steps can name. Where several share a name, the first counts.
    pub workloads: &'a [Workload],
    /// The folder of the experiment file, from which its relative paths start. It must be
    /// absolute, because the plan outlives the working folder.
    pub folder: &'a Path,
    /// Says which setting the server of a target can't have, if there is one. Asked of every
    /// target whose server Prony starts, with what the experiment allows; the target has no name
    /// yet.
    pub honours: &'a Honours<'a>,
}

/// Says which setting the server of a target can't have, if there is one, given what the
/// experiment allows.
pub type Honours<'a> = dyn Fn(&Target, &[String]) -> Result<(), Refused> + 'a;

/// Seed of an experiment or a dataset that sets none, so that two people who run the same file
/// run the same statements on the same rows.
const DEFAULT_SEED: u64 = 1;

/// Most blocks of an experiment.
const BLOCKS_MAX: i64 = 1000;

/// Most clients of a step: the servers' own limit of `max_connections`.
const CLIENTS_MAX: i64 = 100_000;

/// Most tables of a dataset.
const TABLES_MAX: i64 = 10_000;

/// Most rows of a table. Ids are signed integers of 4 bytes, and inserts need room behind.
const ROWS_MAX: i64 = 2_000_000_000;

/// The dataset, with the place of its number of rows.
#[derive(Debug)]
struct DatasetRead {
    dataset: Dataset,
    rows: Span,
}

/// Reads an experiment file and expands it. `file_name` is used in messages only.
///
/// The order of trials depends on nothing but the experiment's seed, its number of blocks and its
/// number of targets.
///
/// # Errors
/// When the text is not TOML, not a right experiment, or asks for what `knowledge` does not have;
/// all problems found are in the error.
pub fn parse_experiment(
    file_name: &str,
    text: &str,
    knowledge: &Knowledge<'_>,
) -> Result<Plan, Invalid> {
    read_toml(file_name, text, |document, table| {
        read(Fields::root(document, "an experiment", table), knowledge)
    })
}

fn read(mut fields: Fields<'_>, knowledge: &Knowledge<'_>) -> Read<Plan> {
    let document = fields.document();
    let name = fields.required("name", Value::name);
    let question = fields.optional("question", Value::text);
    let base = fields.required("base", Value::text);
    let blocks = fields.required("blocks", |value| value.count::<u32>(1..=BLOCKS_MAX));
    let clients = fields.optional("clients", read_clients);
    let seed = fields.optional("seed", read_seed);
    let allow = fields.optional("allow", read_allow);
    let dataset = fields.required("dataset", read_dataset);
    // What could not be read is reported and allows nothing.
    let allowed = allow.as_ref().ok().cloned().flatten().unwrap_or_default();
    let targets = target::read_all(&mut fields, knowledge, &allowed);
    // What could not be read is reported; the steps are read all the same, for their own problems.
    let sequence = step::Sequence {
        clients: clients.unwrap_or_default().unwrap_or_else(|| vec![1]),
        dataset: dataset.as_ref().ok(),
        workloads: knowledge.workloads,
    };
    let steps = sequence.read(&mut fields);
    let precision = fields.not_yet("precision", "write the number of `blocks` instead");
    let budget = fields.not_yet("budget", "write the number of `blocks` instead");
    let unknown = fields.finish();

    let targets = targets?;
    let base = base::find(document, &base?, &targets)?;
    unknown.and(precision).and(budget)?;
    let seed = seed?.unwrap_or(DEFAULT_SEED);
    Ok(Plan {
        name: name?.value.to_owned(),
        question: question?.map_or_else(String::new, |text| text.value.to_owned()),
        base,
        seed,
        dataset: dataset?.dataset,
        sections: Vec::new(),
        preset: None,
        profile: None,
        allow: allow?.unwrap_or_default(),
        trials: order::trials(seed, blocks?.value, targets.len()),
        targets,
        steps: steps?,
    })
}

fn read_seed(value: Value<'_>) -> Read<u64> {
    value.count(0..=i64::MAX).map(|seed| seed.value)
}

fn read_dataset(value: Value<'_>) -> Read<DatasetRead> {
    let mut fields = value.table("the dataset")?;
    let tables = fields.optional("tables", |value| value.count(1..=TABLES_MAX));
    let rows = fields.required("rows", |value| value.count(1..=ROWS_MAX));
    let seed = fields.optional("seed", read_seed);
    fields.finish()?;
    let rows = rows?;
    Ok(DatasetRead {
        dataset: Dataset::sbtest(
            tables?.map_or(1, |tables| tables.value),
            rows.value,
            seed?.unwrap_or(DEFAULT_SEED),
        ),
        rows: rows.span,
    })
}

/// Reads a list of numbers of clients: at least one, none twice.
fn read_clients(value: Value<'_>) -> Read<Vec<u32>> {
    let whole = value.clone();
    let mut clients: Vec<Located<u32>> = Vec::new();
    for item in value.list()? {
        let document = item.document();
        let count = item.count(1..=CLIENTS_MAX)?;
        if let Some(first) = clients.iter().find(|other| other.value == count.value) {
            return Err(document.report(
                Problem::new(format!("`clients` has {} twice", count.value))
                    .at(&count.span, "here again")
                    .at(&first.span, "first here")
                    .help("each number of clients is measured once in every trial: remove one"),
            ));
        }
        clients.push(count);
    }
    if clients.is_empty() {
        return Err(whole.report("must not be empty", "no number of clients"));
    }
    Ok(clients.into_iter().map(|count| count.value).collect())
}

/// Reads names of server variables, into the form in which servers list them.
fn read_allow(value: Value<'_>) -> Read<Vec<String>> {
    let mut names: Vec<Located<String>> = Vec::new();
    for item in value.list()? {
        let document = item.document();
        let written = item.text()?;
        if written.value.is_empty() || !written.value.chars().all(is_name_char) {
            return Err(document.report(
                Problem::new(format!("`{}` is not the name of a variable", written.value))
                    .at(&written.span, "not a name")
                    .help(
                        "write names as SHOW VARIABLES lists them, such as \"innodb_io_capacity\"",
                    ),
            ));
        }
        let name = written.map(|name| name.to_ascii_lowercase().replace('-', "_"));
        if let Some(first) = names.iter().find(|other| other.value == name.value) {
            return Err(document.report(
                Problem::new(format!("`allow` has {} twice", name.value))
                    .at(&name.span, "here again")
                    .at(&first.span, "first here")
                    .help("remove one"),
            ));
        }
        names.push(name);
    }
    Ok(names.into_iter().map(|name| name.value).collect())
}
