//! Experiment files: what is compared, on which data, by which steps, how often.

mod base;
mod blocks;
mod canary;
mod collect;
mod config;
mod counting;
mod design;
mod expand;
mod external;
mod fit;
mod matrix;
mod name;
mod optional;
mod order;
mod placement;
mod preload;
mod profile;
mod profiling;
mod refusal;
mod sequence;
mod setting;
mod target;
mod turn;
mod twin;

use std::path::Path;

use prony_model::{
    Backend, BuildFacts, Dataset, IntentFacts, LoadMethod, Plan, RatioDisplay, Schema, Target,
    Workload,
};

use crate::fields::{Fields, Located, Value, is_name_char, twice};
use crate::invalid::{Document, Invalid, Problem, Read, Span, read_toml};
use crate::percent;
use crate::{schema, workload};
use optional::Targets;

pub(crate) use fit::{check_family, resolve as resolve_workload};
pub use order::more_trials;
pub use refusal::Refused;
pub use sequence::{Preset, parse_preset};

/// Facts against which an experiment is checked.
#[derive(Clone, Copy)]
pub struct Knowledge<'a> {
    /// The builds of the catalogue.
    pub builds: &'a [BuildFacts],
    /// The intents that a configuration can state.
    pub intents: &'a [IntentFacts],
    /// The workloads that steps can name. Where several share a name, the first counts.
    pub workloads: &'a [Workload],
    /// The presets that a sequence can be.
    pub presets: &'a [Preset],
    /// The folder of the experiment file, from which its relative paths start. It must be
    /// absolute, because the plan outlives the working folder.
    pub folder: &'a Path,
    /// Says which setting the server of a target can't have, if there is one. Asked of every
    /// target whose server Prony starts, with what the experiment allows; the target has no name
    /// yet.
    pub honours: &'a Honours<'a>,
    /// The SHA-256 of a library's file, in hexadecimal digits.
    pub digest: &'a Digest<'a>,
    /// Success where this host has counters of the processor for us; else the reason, in words that
    /// fit after a colon.
    pub hardware_counters: Result<(), &'a str>,
    /// Success where this host lets us sample the stacks of servers; else the reason, in words that fit after
    /// a colon.
    pub stack_samples: Result<(), &'a str>,
    /// True where valgrind is installed.
    pub valgrind: bool,
}

/// Says which setting the server of a target can't have, if there is one, given what the
/// experiment allows.
pub type Honours<'a> = dyn Fn(&Target, &[String]) -> Result<(), Refused> + 'a;

/// The SHA-256 of a library's file, in hexadecimal digits; an error, in words that can stand alone,
/// where no server could load the file.
pub type Digest<'a> = dyn Fn(&Path) -> Result<String, String> + 'a;

/// Seed of an experiment or a dataset that sets none, so that two people who run the same file
/// run the same statements on the same rows.
const DEFAULT_SEED: u64 = 1;

/// Most tables of a dataset.
const TABLES_MAX: i64 = 10_000;

/// Most rows of a table, so that sums over their keys fit 128 bits and products with parameters 64.
const ROWS_MAX: i64 = 1_000_000_000_000;

/// Names of the backends. What is best is found out when the run begins.
const BACKENDS: [(&str, Option<Backend>); 3] = [
    ("auto", None),
    (Backend::Epoll.name(), Some(Backend::Epoll)),
    (Backend::IoUring.name(), Some(Backend::IoUring)),
];

/// The dataset, with the place of its number of rows.
#[derive(Debug)]
struct DatasetRead {
    dataset: Dataset,
    rows: Span,
}

/// Reads an experiment file, with one of its profiles laid over it where `profile` names one, and
/// expands it. `file_name` is used in messages only.
///
/// The order of timed trials depends on nothing but the experiment's seed and its number of targets,
/// the base's twin included; that of counting trials on their number besides. What is counted can
/// depend on the host, of which `knowledge` says what has to be known.
///
/// # Errors
/// When the text is not TOML, not a right experiment, or asks for what `knowledge` does not have;
/// all problems found are in the error.
pub fn parse_experiment(
    file_name: &str,
    text: &str,
    profile: Option<&str>,
    knowledge: &Knowledge<'_>,
) -> Result<Plan, Invalid> {
    read_toml(file_name, text, |document, table| {
        let laid = profile::lay(document, table, profile)?;
        let root = Fields::root(document, "an experiment", &laid);
        let plan = read(root, knowledge)?;
        Ok(Plan {
            profile: profile.map(str::to_owned),
            ..plan
        })
    })
}

/// Reads the schemas and workloads of the experiment's own, then the rest with them.
fn read(mut fields: Fields<'_>, knowledge: &Knowledge<'_>) -> Read<Plan> {
    // Without them, everything that names one would be a problem too.
    let (schemas, workloads) = workload::read_own(&mut fields)?;
    let knowledge = &Knowledge {
        workloads: &[&workloads, knowledge.workloads].concat(),
        ..*knowledge
    };
    read_with(fields, &schemas, knowledge)
}

fn read_with(mut fields: Fields<'_>, schemas: &[Schema], knowledge: &Knowledge<'_>) -> Read<Plan> {
    let document = fields.document();
    let name = fields.required("name", Value::name);
    let question = fields.optional("question", Value::text);
    let base = fields.required("base", base::read);
    let design = design::read(&mut fields);
    let margin = fields.optional("margin", percent::read_difference);
    let display = fields.optional("display", |value| value.choice(&RatioDisplay::NAMED));
    let clients = fields.optional("clients", sequence::read_clients);
    let allow = fields.optional("allow", read_allow);
    let backend = fields.optional("backend", |value| value.choice(&BACKENDS));
    let placement = fields.optional("placement", placement::read);
    let dataset = fields.required("dataset", |value| read_dataset(value, schemas, knowledge));
    // What could not be read is reported and allows nothing.
    let allowed = allow.as_ref().ok().cloned().flatten().unwrap_or_default();
    let targets = target::read_all(&mut fields, knowledge, &allowed);
    // What could not be read is reported; the steps are still read, for their own problems.
    let unbound = targets.as_ref().ok().and_then(Targets::unbound);
    let of_steps = margin.as_ref().ok().and_then(Option::as_ref);
    let surroundings = sequence::Surroundings {
        clients: clients.unwrap_or_default(),
        margin: of_steps.map(|margin| margin.value),
        unbound,
        targets: targets.as_ref().map_or(&[], |targets| &targets.all),
        dataset: dataset.as_ref().ok(),
        workloads: knowledge.workloads,
        presets: knowledge.presets,
    };
    let sequence = sequence::read(&mut fields, surroundings);
    let canary = fields.optional("canary", canary::read);
    let profiles = fields.optional("profile", profile::check);
    let unknown = fields.finish();

    if let (Some(name), Ok(Some(wanted))) = (unbound, &placement) {
        placement::check_without_server(document, name, &wanted.as_ref())?;
    }
    let targets = targets?;
    check_schema(document, dataset.as_ref().ok(), &targets)?;
    let base = optional::find_base(document, &base?, &targets)?;
    unknown?;
    profiles?;
    margin?;
    let sequence = sequence?;
    let canary = canary::decide(document, canary?, &targets.all)?;
    let design = design::decide(document, design?, base, targets.all, knowledge)?;
    Ok(Plan {
        name: name?.value.to_owned(),
        question: question?.map_or_else(String::new, |text| text.value.to_owned()),
        base: design.base,
        bases: design.bases,
        seed: design.seed,
        dataset: dataset?.dataset,
        sections: sequence.sections,
        display: display?.map_or_else(RatioDisplay::default, |display| display.value),
        preset: sequence.preset,
        profile: None,
        allow: allow?.unwrap_or_default(),
        backend: backend?.and_then(|backend| backend.value),
        placement: placement?.map(|placement| placement.value),
        twin: design.twin,
        turn_ms: design.turn_ms,
        campaign: design.campaign,
        without: Vec::new(),
        confirms: None,
        left_out: targets.left_out,
        trials: design.trials,
        counting: design.counting.counting,
        counting_note: design.counting.note,
        profiling: design.profiling.profiling,
        profiling_note: design.profiling.note,
        canary,
        targets: design.targets,
        steps: sequence.steps,
    })
}

/// Checks that all targets can have the tables of the schema.
fn check_schema(
    document: &Document<'_>,
    dataset: Option<&DatasetRead>,
    targets: &Targets,
) -> Read<()> {
    let Some(read) = dataset else { return Ok(()) };
    check_foreign_keys(document, read, targets)?;
    check_sql_of_schema(document, read, targets)
}

/// Checks that foreign keys are kept by all targets.
fn check_foreign_keys(document: &Document<'_>, read: &DatasetRead, targets: &Targets) -> Read<()> {
    let schema = read.dataset.schema;
    if !schema.has_foreign_keys() || !read.dataset.indexes {
        return Ok(());
    }
    let mut all = targets.all.iter();
    let Some(target) = all.find(|target| !target.engine.keeps_foreign_keys()) else {
        return Ok(());
    };
    Problem::new(format!(
        "`{}` has foreign keys, which `{}` with engine {} does not keep",
        schema.name(),
        target.name,
        target.engine
    ))
    .at(&read.rows, "in this dataset")
    .help(
        "InnoDB and PostgreSQL keep them: change the target's `engine`, or choose a schema without \
         them",
    )
    .fail(document)
}

/// Checks that procedures and conditions of the schema have a text for every target.
fn check_sql_of_schema(document: &Document<'_>, read: &DatasetRead, targets: &Targets) -> Read<()> {
    let schema = read.dataset.schema;
    let without = |target: &Target| {
        let (kind, name) = schema.without_sql(target.build.family)?;
        Some((target.name.clone(), target.build.family, kind, name))
    };
    let Some((target, family, kind, name)) = targets.all.iter().find_map(without) else {
        return Ok(());
    };
    Problem::new(format!(
        "the {kind} `{name}` of `{}` has no SQL for {family}, the family of `{target}`",
        schema.name()
    ))
    .at(&read.rows, "in this dataset")
    .help(format!(
        "leave out the servers of {family}, or add words for them to the schema: \
         sql = {{ any = \"…\", {family} = \"…\" }}"
    ))
    .fail(document)
}

fn read_seed(value: Value<'_>) -> Read<u64> {
    value.count(0..=i64::MAX).map(|seed| seed.value)
}

/// Reads the dataset. It can name the schemas of the experiment, those of its workloads, and those that
/// come with Prony.
fn read_dataset(
    value: Value<'_>,
    schemas: &[Schema],
    knowledge: &Knowledge<'_>,
) -> Read<DatasetRead> {
    let document = value.document();
    let of_workloads = knowledge.workloads.iter().map(|workload| workload.schema);
    let known: Vec<Schema> = schemas.iter().copied().chain(of_workloads).collect();
    let mut fields = value.table("the dataset")?;
    let schema = fields.optional("schema", |value| schema::named(value, &known));
    let tables = fields.optional("tables", |value| value.count(1..=TABLES_MAX));
    let rows = fields.required("rows", |value| value.count(1..=ROWS_MAX));
    let seed = fields.optional("seed", read_seed);
    let primary_key = fields.optional("primary_key", Value::flag);
    let load = fields.optional("load", |value| value.choice(&LoadMethod::NAMED));
    let indexes = fields.optional("indexes", Value::flag);
    fields.finish()?;
    let rows = rows?;
    let dataset = Dataset {
        schema: schema?.map_or(Schema::default(), |schema| schema.value),
        tables: tables?.map_or(1, |tables| tables.value),
        rows: rows.value,
        seed: seed?.unwrap_or(DEFAULT_SEED),
        primary_key: primary_key?.unwrap_or(true),
        load: load?.map_or(LoadMethod::default(), |load| load.value),
        indexes: indexes?.unwrap_or(true),
    };
    if let Err(error) = dataset.check() {
        let name = dataset.schema.name();
        return Problem::new(format!("`{name}` can't have these rows: {error}"))
            .at(&rows.span, format!("with {} rows", dataset.rows))
            .help("choose another number of rows, or other values or another type of the column")
            .fail(document);
    }
    Ok(DatasetRead {
        dataset,
        rows: rows.span,
    })
}

/// Reads names of server variables, into the form in which servers list them.
fn read_allow(value: Value<'_>) -> Read<Vec<String>> {
    let mut names: Vec<Located<String>> = Vec::new();
    for item in value.list()? {
        let document = item.document();
        let written = item.text()?;
        if written.value.is_empty() || !written.value.chars().all(is_name_char) {
            return Problem::new(format!("`{}` is not the name of a variable", written.value))
                .at(&written.span, "not a name")
                .help("write the names that SHOW VARIABLES lists, such as \"innodb_io_capacity\"")
                .fail(document);
        }
        let name = written.map(|name| name.to_ascii_lowercase().replace('-', "_"));
        if let Some(first) = names.iter().find(|other| other.value == name.value) {
            return twice(
                format!("`allow` has {} twice", name.value),
                &name.span,
                &first.span,
            )
            .help("remove one")
            .fail(document);
        }
        names.push(name);
    }
    Ok(names.into_iter().map(|name| name.value).collect())
}
