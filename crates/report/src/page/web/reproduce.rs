//! What another person needs to run the experiment again: commands, builds, steps, statements.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Baseline, Config, Family, Length, Pace, Plan, Sql, SqlTemplate, Step, Workload};
use prony_store::{DefinitionFile, DefinitionKind};

use crate::analysis::Analysis;
use crate::document::{Block, Cell, Table};
use crate::page::web::Part;
use crate::words::{count, plural};

/// The parts on running the experiment again.
pub(crate) fn parts(analysis: &Analysis<'_>) -> Vec<Part> {
    let part = |title: &str, folded, blocks| Part {
        title: title.to_owned(),
        folded,
        blocks,
        ..Part::default()
    };
    let reproduce = part("How to reproduce this run", false, commands(analysis));
    let files = analysis.definitions.iter();
    let files = files.map(|file| part(&title(file), true, vec![verbatim(file)]));
    let tables = [
        part(
            "Server builds and what was asked of them",
            false,
            builds(analysis),
        ),
        part("Steps of a trial", true, steps(analysis.plan)),
        part("Statements", true, statements(analysis.plan)),
    ];
    std::iter::once(reproduce)
        .chain(files)
        .chain(tables)
        .collect()
}

/// The files that the user wrote for the run, each below a heading.
pub(crate) fn files(analysis: &Analysis<'_>) -> Vec<Block> {
    let files = analysis.definitions.iter();
    let blocks = files.flat_map(|file| [Block::Heading(title(file)), verbatim(file)]);
    blocks.collect()
}

fn title(file: &DefinitionFile) -> String {
    let kind = match file.kind {
        DefinitionKind::Experiment => "Experiment file",
        DefinitionKind::Workloads => "File of own workloads",
    };
    format!("{kind} {}", file.name)
}

fn verbatim(file: &DefinitionFile) -> Block {
    Block::Verbatim(file.text.lines().map(str::to_owned).collect())
}

/// The command that runs the experiment again.
fn run_command(analysis: &Analysis<'_>) -> String {
    let plan = analysis.plan;
    if let Some(run) = &plan.confirms {
        return format!("prony run --confirm runs/{run}");
    }
    let name_of = |kind| {
        let files = analysis.definitions.iter();
        files
            .filter(move |file| file.kind == kind)
            .map(|file| file.name.as_str())
    };
    let stated = format!("experiments/{}.toml", plan.name);
    let experiment = name_of(DefinitionKind::Experiment).next();
    let profile = plan.profile.iter().map(|name| format!(" --profile {name}"));
    let workloads = name_of(DefinitionKind::Workloads);
    let workloads = workloads.map(|name| format!(" --workloads {name}"));
    let options: String = profile.chain(workloads).collect();
    format!("prony run {}{options}", experiment.unwrap_or(&stated))
}

fn commands(analysis: &Analysis<'_>) -> Vec<Block> {
    let (plan, run) = (analysis.plan, &analysis.run);
    let data = &plan.dataset;
    let key = if data.primary_key {
        ""
    } else {
        ", no primary key"
    };
    let mut facts = vec![
        ("Prony", run.prony_version.clone()),
        ("Experiment", plan.name.clone()),
        ("Seed", plan.seed.to_string()),
        (
            "Data",
            format!(
                "{} of {}, seed {}{key}",
                plural(data.tables.into(), "table"),
                plural(data.rows, "row"),
                data.seed
            ),
        ),
    ];
    facts.extend(plan.preset.clone().map(|name| ("Sequence", name)));
    facts.extend(plan.confirms.clone().map(|id| ("Confirms", id)));
    let files = if analysis.definitions.is_empty() {
        "The run does not have the text of its experiment's file, because the Prony that began it did \
         not keep it."
    } else {
        "The files that the user wrote for the run are below, whole; `prony report RUN --experiment` \
         prints the experiment's."
    };
    vec![
        Block::Paragraph(
            "Prony of the same version runs the experiment's file again, on this or another host, \
             and makes this page from the folder of a run:"
                .into(),
        ),
        Block::Verbatim(vec![
            run_command(analysis),
            format!("prony report runs/{} --format html -o report.html", run.id),
        ]),
        Block::Paragraph(files.into()),
        Block::Paragraph(
            "The tables below say what the file asks for. All readings, the effective variables of \
             every server, the order of the trials and the plan as a whole are in run.sqlite in the \
             run's folder."
                .into(),
        ),
        Block::Facts(facts),
    ]
}

fn builds(analysis: &Analysis<'_>) -> Vec<Block> {
    let plan = analysis.plan;
    let row = |(index, target): (usize, &prony_model::Target)| {
        let build = analysis.builds[index].as_ref();
        let libraries = target.preload.iter();
        let libraries = libraries.map(|of| format!("{}, sha256 {}", of.file.display(), of.sha256));
        let external = target.external.as_ref().map(ToString::to_string);
        vec![
            Cell::from(target.name.as_str()),
            external
                .map_or_else(|| target.build.id.clone(), |at| format!("external, {at}"))
                .into(),
            build.map(|build| build.server_version.clone()).into(),
            build.map(|build| build.content_hash.clone()).into(),
            target.engine.to_string().into(),
            format!("{}, {}", target.protocol, target.transport).into(),
            asked(&target.config).into(),
            libraries.collect::<Vec<_>>().join("; ").into(),
        ]
    };
    let header = [
        "target",
        "build",
        "server version",
        "checksum",
        "engine",
        "statements",
        "settings",
        "preloaded",
    ];
    let mut table = Table::of_words(header, plan.targets.iter().enumerate().map(row));
    if plan.targets.iter().all(|target| target.preload.is_empty()) {
        table.header.pop();
        for row in &mut table.rows {
            row.pop();
        }
    }
    let text = "The checksum covers every file of a build. Settings are those beyond the common \
                baseline, the same for every version, or beyond what the version ships; the part on \
                settings has the baseline too.";
    vec![Block::Paragraph(text.into()), Block::Table(table)]
}

/// The settings that an experiment asks for, as its file writes them.
fn asked(config: &Config) -> String {
    let intents = config
        .intents
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let raw = config
        .raw
        .iter()
        .map(|(name, value)| format!("--{name}={value}"));
    let shipped = config.baseline == Baseline::Shipped;
    let shipped = shipped.then(|| "as shipped".to_owned());
    let all: Vec<String> = shipped.into_iter().chain(intents).chain(raw).collect();
    if all.is_empty() {
        "-".to_owned()
    } else {
        all.join(", ")
    }
}

fn steps(plan: &Plan) -> Vec<Block> {
    let rows = plan.steps.iter().flat_map(|step| {
        step.groups.iter().map(move |group| {
            let name = match &group.name {
                None => step.name.clone(),
                Some(beside) => format!("{}, beside: {beside}", step.name),
            };
            let warm = if step.warm_only { ", warms only" } else { "" };
            let parameters = group.parameters.iter();
            let parameters = parameters.map(|(name, value)| format!("{name} = {value}"));
            let parameters: Vec<String> = parameters.collect();
            vec![
                Cell::from(name + warm),
                count(group.clients.into()).into(),
                workload(&group.workload).into(),
                parameters.join(", ").into(),
                length(step).into(),
                seconds(step.warmup_ms).into(),
                pace(group.pace).into(),
                step.settle
                    .map(|settle| format!("{} at least", seconds(settle.idle_ms)))
                    .into(),
            ]
        })
    });
    let header = [
        "step",
        "clients",
        "workload",
        "parameters",
        "length",
        "warm-up",
        "pace",
        "settling before",
    ];
    vec![Block::Table(Table::of_words(header, rows))]
}

fn workload(workload: &Workload) -> String {
    let text = if workload.text_only {
        ", sent as text"
    } else {
        ""
    };
    format!("{}{text}", workload.name)
}

fn length(step: &Step) -> String {
    match step.length {
        Length::Time { ms } => seconds(ms),
        Length::Count { operations } => plural(operations, "operation"),
    }
}

fn seconds(ms: u64) -> String {
    format!("{} s", ms as f64 / 1e3)
}

fn pace(pace: Pace) -> String {
    match pace {
        Pace::Closed { think: None } => "one after the other".to_owned(),
        Pace::Closed { think: Some(think) } => {
            format!("think time {} ms", think.mean_us as f64 / 1e3)
        }
        Pace::Open { rate, .. } => format!("{rate} operations/s"),
    }
}

/// The statements of every workload, once.
fn statements(plan: &Plan) -> Vec<Block> {
    let groups = plan.steps.iter().flat_map(|step| step.groups.iter());
    let workloads = groups.map(|group| (group.workload.name.as_str(), &group.workload));
    let workloads: BTreeMap<&str, &Workload> = workloads.collect();
    let mut blocks = Vec::new();
    for (name, workload) in workloads {
        blocks.push(Block::Subheading(name.to_owned()));
        if !workload.description.is_empty() {
            blocks.push(Block::Paragraph(workload.description.clone()));
        }
        let statements = workload.statements.iter();
        let lines = statements.flat_map(|statement| texts(plan, &statement.sql));
        blocks.push(Block::Verbatim(lines.collect()));
    }
    blocks
}

/// The texts of a statement that the targets have got: one, or one for each family.
fn texts(plan: &Plan, sql: &Sql) -> Vec<String> {
    let families: BTreeSet<_> = plan.targets.iter().map(|t| t.build.family).collect();
    let text = |family| sql.of(family).map(SqlTemplate::to_string);
    let texts: BTreeSet<_> = families.iter().filter_map(|family| text(*family)).collect();
    if texts.len() < 2 {
        return texts.into_iter().collect();
    }
    let of_family = |family: &Family| Some(format!("{family}: {}", text(*family)?));
    families.iter().filter_map(of_family).collect()
}
