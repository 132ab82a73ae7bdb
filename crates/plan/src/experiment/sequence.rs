//! The sequence of an experiment: its own `[[step]]` tables, or those of a preset, with what
//! `[sequence]` sets for all of them.

mod beside;
mod clients;
mod entry;
mod expand;
mod pace;
mod preset;
mod section;
mod settings;
mod time;
mod work;

use prony_model::{Expr, Section, Step, Target, Thousandths, Timing, Workload};

use self::expand::{Expansion, Origin};
use self::section::Written as WrittenSection;
use self::settings::Settings;
use self::time::{Limit, Scale};
use super::DatasetRead;
use crate::fields::{Fields, Located, Value, unknown};
use crate::invalid::{Document, Problem, Read, Span};

pub(super) use self::clients::{Clients, read as read_clients};
pub use self::preset::{Preset, parse_preset};
pub(super) use self::time::{read_operations, read_time};

/// Facts against which a sequence is read.
pub(super) struct Surroundings<'a> {
    /// Numbers of clients that the experiment sets for all steps.
    pub(super) clients: Option<Vec<Clients>>,
    /// The margin of the steps that set none.
    pub(super) margin: Option<Thousandths>,
    /// The dataset, where it could be read.
    pub(super) dataset: Option<&'a DatasetRead>,
    /// A target whose server the placements of steps can't bind, if there is one.
    pub(super) unbound: Option<&'a str>,
    /// The targets; none where they could not be read.
    pub(super) targets: &'a [Target],
    pub(super) workloads: &'a [Workload],
    pub(super) presets: &'a [Preset],
}

/// A sequence, expanded.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) steps: Vec<Step>,
    pub(super) sections: Vec<Section>,
    /// The name of the preset that it comes from.
    pub(super) preset: Option<String>,
}

impl Sequence {
    /// Steps with margins of their own, or that of their section, or this one.
    fn new(
        mut steps: Vec<Step>,
        sections: Vec<WrittenSection>,
        margin: Option<Thousandths>,
    ) -> Self {
        for step in &mut steps {
            let holds = |section: &&WrittenSection| section.section.entries.contains(&step.entry);
            let of_section = sections.iter().find(holds).and_then(|found| found.margin);
            step.margin_percent = step.margin_percent.or(of_section).or(margin);
        }
        Self {
            steps,
            sections: sections
                .into_iter()
                .map(|written| written.section)
                .collect(),
            preset: None,
        }
    }
}

/// The table `[sequence]`.
#[derive(Debug, Default)]
struct Written<'a> {
    settings: Settings,
    write_operations: Option<Located<u64>>,
    preset: Option<Located<&'a Preset>>,
}

/// Reads and expands the sequence.
pub(super) fn read(root: &mut Fields<'_>, surroundings: Surroundings<'_>) -> Read<Sequence> {
    let written = root.optional("sequence", |value| {
        read_written(value, surroundings.presets)
    });
    let broken = written.is_err();
    let mut written = written.ok().flatten().unwrap_or_default();
    if broken {
        // What is wrong has been reported; the steps are read all the same, for their own
        // problems, and do not seem to lack a time.
        written.settings.limit = Some(Located {
            value: Limit::Time(1),
            span: root.span(),
        });
    }
    match written.preset.take() {
        Some(preset) => read_preset(root, &preset, &written, surroundings),
        None => read_own(root, &written, surroundings, broken),
    }
}

fn read_written<'p>(value: Value<'_>, presets: &'p [Preset]) -> Read<Written<'p>> {
    let mut fields = value.table("the sequence")?;
    let settings = settings::read(&mut fields);
    let write_operations = fields.optional("write_operations", read_operations);
    let preset = fields.optional("preset", |value| find(value, presets));
    fields.finish()?;
    Ok(Written {
        settings: settings?,
        write_operations: write_operations?,
        preset: preset?,
    })
}

fn find<'p>(value: Value<'_>, presets: &'p [Preset]) -> Read<Located<&'p Preset>> {
    let document = value.document();
    let name = value.text()?;
    if let Some(preset) = presets.iter().find(|preset| preset.name() == name.value) {
        return Ok(name.map(|_| preset));
    }
    let known: Vec<_> = presets.iter().map(Preset::name).collect();
    unknown("preset", &name, &known).fail(document)
}

/// The experiment's own steps.
fn read_own(
    root: &mut Fields<'_>,
    written: &Written<'_>,
    surroundings: Surroundings<'_>,
    broken: bool,
) -> Read<Sequence> {
    let document = root.document();
    let entries = entry::read_all(root, surroundings.workloads);
    let sections = match &entries {
        Ok(entries) => section::read_all(root, entries),
        // Sections name steps; where those could not be read, they would all be unknown.
        Err(_) => root.optional("section", |_| Ok(())).map(|_| Vec::new()),
    };
    let entries = entries?;
    if entries.is_empty() && !broken {
        return Problem::new("an experiment needs at least one step")
            .at(&root.span(), "no [[step]] in this file")
            .help(
                "write [[step]] with `workload = \"…\"` below it, once for each step; or the \
                     `preset` of [sequence]",
            )
            .fail(document);
    }
    let margin = surroundings.margin;
    let Settings {
        warmup_ms,
        ramp_ms,
        limit,
        timing,
    } = &written.settings;
    let expansion = Expansion {
        document,
        dataset: surroundings.dataset,
        unbound: surroundings.unbound,
        targets: surroundings.targets,
        clients: surroundings.clients.unwrap_or_else(one_client),
        warmup_ms: *warmup_ms,
        ramp_ms: *ramp_ms,
        limit: limit.clone(),
        timing: timing.unwrap_or_default(),
        write_operations: written.write_operations.clone(),
        origin: Origin::Own,
    };
    let steps = expansion.expand(&entries)?;
    Ok(Sequence::new(steps, sections?, margin))
}

/// The steps of a preset.
fn read_preset(
    root: &mut Fields<'_>,
    preset: &Located<&Preset>,
    written: &Written<'_>,
    surroundings: Surroundings<'_>,
) -> Read<Sequence> {
    let document = root.document();
    let mut alone = Ok(());
    for (key, what) in [("step", "steps"), ("section", "sections")] {
        let refused = root.refuse(key, |span| {
            Problem::new(format!("a preset brings its own {what}"))
                .at(span, format!("more {what}"))
                .at(&preset.span, "the preset")
                .help(
                    "remove one of the two; `prony sequences show` prints a preset in the form in \
                     which it can be copied into an experiment and changed",
                )
        });
        alone = alone.and(refused);
    }
    alone?;
    let (limit, scale) = preset_limit(document, preset, written)?;
    let margin = surroundings.margin;
    let preset_settings = &preset.value.settings;
    let scaled_warmup = preset_settings.warmup_ms.map(|ms| scale.of_warmup(ms));
    let scaled_ramp = preset_settings.ramp_ms.map(|ms| scale.of(ms));
    let timing = written.settings.timing.or(preset_settings.timing);
    let clients = surroundings
        .clients
        .or_else(|| preset.value.clients.clone());
    let expansion = Expansion {
        document,
        dataset: surroundings.dataset,
        unbound: surroundings.unbound,
        targets: surroundings.targets,
        clients: clients.unwrap_or_else(one_client),
        warmup_ms: written.settings.warmup_ms.or(scaled_warmup),
        ramp_ms: written.settings.ramp_ms.or(scaled_ramp),
        limit,
        timing: timing.unwrap_or(Timing::Operations),
        write_operations: written.write_operations.clone(),
        origin: Origin::Preset {
            place: preset.span.clone(),
            scale,
        },
    };
    let steps = expansion.expand(&preset.value.entries)?;
    Ok(Sequence {
        preset: Some(preset.value.name().to_owned()),
        ..Sequence::new(steps, preset.value.sections.clone(), margin)
    })
}

/// What ends the steps of a preset that set nothing, and in which proportion its times change.
fn preset_limit(
    document: &Document<'_>,
    preset: &Located<&Preset>,
    written: &Written<'_>,
) -> Read<(Option<Located<Limit<Expr>>>, Scale)> {
    let own = preset
        .value
        .settings
        .limit
        .as_ref()
        .map(|limit| limit.value.clone());
    match (&written.settings.limit, own) {
        (None, own) => {
            let own = own.map(|value| Located {
                value,
                span: preset.span.clone(),
            });
            Ok((own, Scale::ONE))
        }
        (Some(limit), Some(Limit::Time(from_ms))) => match &limit.value {
            Limit::Time(to_ms) => Ok((Some(limit.clone()), Scale::new(*to_ms, from_ms))),
            Limit::Operations(_) | Limit::PerClient(_) => Err(timed(document, preset, &limit.span)),
        },
        (Some(limit), _) => Ok((Some(limit.clone()), Scale::ONE)),
    }
}

fn timed(
    document: &Document<'_>,
    preset: &Located<&Preset>,
    limit: &Span,
) -> crate::invalid::Reported {
    document.report(
        Problem::new(format!(
            "the steps of `{}` run for a time, some for another than the rest",
            preset.value.name()
        ))
        .at(limit, "a number for all of them")
        .at(&preset.span, "the preset")
        .help(
            "write `time` to scale all of its times; `write_operations` gives a number of \
             operations to the steps that write",
        ),
    )
}

fn one_client() -> Vec<Clients> {
    vec![Clients::Count(1)]
}
