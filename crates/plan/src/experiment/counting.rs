//! `[counting]`: trials that count instead of measuring time.

use prony_model::{CountedBy, CountedSteps, Counting, Target};
use toml::de::DeValue;

use super::Knowledge;
use super::blocks::BLOCKS_MAX;
use super::sequence::{read_operations, read_time};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Problem, Read, Span};
use crate::suggest;

/// Blocks in which targets are counted where the experiment does not say: instructions repeat so
/// well that two show whether they did.
const BLOCKS: u32 = 2;

/// Means of counting that an experiment requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum With {
    /// The means that is available without cost.
    #[default]
    Auto,
    /// The processor's counters, or else valgrind.
    Any,
    Off,
    This(CountedBy),
}

const WITH: [(&str, With); 5] = [
    ("auto", With::Auto),
    ("any", With::Any),
    (CountedBy::Hardware.name(), With::This(CountedBy::Hardware)),
    (CountedBy::Valgrind.name(), With::This(CountedBy::Valgrind)),
    ("off", With::Off),
];

/// The section on counting, as written.
#[derive(Debug, Default)]
pub(super) struct Written {
    blocks: Option<Located<u32>>,
    with: With,
    /// Its place in the file.
    place: Span,
    operations: Option<u64>,
    time_ms: Option<u64>,
    steps: CountedSteps,
}

/// The section on counting, as decided for this host.
#[derive(Debug, Default)]
pub(super) struct Decided {
    pub(super) counting: Option<Counting>,
    /// Reason why nothing is counted although counting was not switched off.
    pub(super) note: Option<String>,
}

/// Reads `counting`: a table, or `"off"`.
pub(super) fn read(value: Value<'_>) -> Read<Written> {
    let place = value.span();
    match value.inner() {
        DeValue::String(word) if word == "off" => Ok(Written {
            with: With::Off,
            place,
            ..Written::default()
        }),
        DeValue::Table(_) => read_table(value.table("the counting")?),
        _ => Problem::new("`counting` must be a table, or \"off\"")
            .at(&place, "neither of them")
            .help("write [counting] with `blocks`, `with` or `operations` below it")
            .fail(value.document()),
    }
}

fn read_table(mut fields: Fields<'_>) -> Read<Written> {
    let (place, document) = (fields.span(), fields.document());
    let blocks = fields.optional("blocks", |value| value.count(1..=BLOCKS_MAX));
    let with = fields.optional("with", read_with);
    let operations = fields.optional("operations", read_operations);
    let time = fields.optional("time", |value| {
        let span = value.span();
        let value = read_time(&value, 1)?;
        Ok(Located { value, span })
    });
    let steps = fields.optional("steps", read_steps);
    fields.finish()?;
    let (with, operations, time) = (with?, operations?, time?);
    if let (Some(_), Some(time)) = (&operations, &time) {
        return Problem::new("`operations` and `time` exclude each other")
            .at(&time.span, "the second of two numbers of operations")
            .help("remove one of them")
            .fail(document);
    }
    Ok(Written {
        blocks: blocks?,
        with: with.as_ref().map_or(With::Auto, |with| with.value),
        place: with.map_or(place, |with| with.span),
        operations: operations.map(|operations| operations.value),
        time_ms: time.map(|time| time.value),
        steps: steps?.map(|steps| steps.value).unwrap_or_default(),
    })
}

fn read_with(value: Value<'_>) -> Read<Located<With>> {
    read_word(value, &WITH, "can't count with", "nothing that counts")
}

fn read_steps(value: Value<'_>) -> Read<Located<CountedSteps>> {
    read_word(
        value,
        &CountedSteps::NAMED,
        "can't count the steps",
        "not a kind of steps",
    )
}

fn read_word<T: Copy>(
    value: Value<'_>,
    words: &[(&str, T)],
    problem: &str,
    label: &str,
) -> Read<Located<T>> {
    let document = value.document();
    let word = value.text()?;
    if let Some((_, meaning)) = words.iter().find(|(name, _)| *name == word.value) {
        return Ok(word.map(|_| *meaning));
    }
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    Problem::new(format!("{problem} `{}`", word.value))
        .at(&word.span, label)
        .help(suggest::help(word.value, "words", &names))
        .fail(document)
}

/// Decides what is counted in an experiment of `blocks` blocks on this host.
pub(super) fn decide(
    document: &Document<'_>,
    written: &Written,
    blocks: u32,
    targets: &[Target],
    knowledge: &Knowledge<'_>,
) -> Read<Decided> {
    check_blocks(document, written, blocks)?;
    let by = match written.with {
        With::Off => return Ok(Decided::default()),
        With::This(by) => {
            check_asked_for(document, written, by, targets, knowledge)?;
            Ok(by)
        }
        With::Auto | With::Any if targets.iter().all(|target| target.external.is_some()) => {
            Err("servers that Prony does not start can't be counted".to_owned())
        }
        With::Auto => match knowledge.hardware_counters {
            Ok(()) => Ok(CountedBy::Hardware),
            Err(why) => Err(format!(
                "the processor's counters can't be read here: {why}; `with = \"valgrind\"` in \
                 [counting] counts without them"
            )),
        },
        With::Any => match (knowledge.hardware_counters, knowledge.valgrind) {
            (Ok(()), _) => Ok(CountedBy::Hardware),
            (Err(why), _) if let Some(reason) = no_valgrind(targets) => Err(format!(
                "the processor's counters can't be read here: {why}; valgrind, which needs none, can't \
                 count these servers: {reason}"
            )),
            (Err(_), true) => Ok(CountedBy::Valgrind),
            (Err(why), false) => Err(format!(
                "the processor's counters can't be read here: {why}; valgrind counts without \
                 them: install it, as with `apt-get install valgrind`"
            )),
        },
    };
    Ok(match by {
        Ok(by) => Decided {
            counting: Some(Counting {
                blocks: written
                    .blocks
                    .as_ref()
                    .map_or(BLOCKS, |b| b.value)
                    .min(blocks),
                by,
                operations: written.operations,
                time_ms: written.time_ms,
                steps: written.steps,
            }),
            note: None,
        },
        Err(note) => Decided {
            counting: None,
            note: Some(note),
        },
    })
}

fn check_blocks(document: &Document<'_>, written: &Written, blocks: u32) -> Read<()> {
    match &written.blocks {
        Some(counted) if counted.value > blocks => Problem::new(format!(
            "targets can't be counted in {} blocks: the experiment has {blocks}",
            counted.value
        ))
        .at(&counted.span, "more than the experiment has")
        .help(format!(
            "write a number from 1 to {blocks}, or leave it out"
        ))
        .fail(document),
        _ => Ok(()),
    }
}

/// Checks that what is asked for by name can be had.
fn check_asked_for(
    document: &Document<'_>,
    written: &Written,
    by: CountedBy,
    targets: &[Target],
    knowledge: &Knowledge<'_>,
) -> Read<()> {
    if let Some(external) = targets.iter().find(|target| target.external.is_some()) {
        return Problem::new(format!(
            "`{}` can't be counted: Prony does not start its server",
            external.name
        ))
        .at(&written.place, "asked for here")
        .help(
            "leave this target out, or write `with = \"auto\"`, which counts the other \
                 targets where the processor has counters",
        )
        .fail(document);
    }
    match (by, knowledge.hardware_counters) {
        (CountedBy::Hardware, Err(why)) => Problem::new(format!(
            "the processor's counters can't be read here: {why}"
        ))
        .at(&written.place, "asked for here")
        .help("write `with = \"valgrind\"`, which counts without them, or `with = \"auto\"`")
        .fail(document),
        (CountedBy::Valgrind, _) if let Some(reason) = no_valgrind(targets) => {
            Problem::new(format!("no target can be counted by valgrind: {reason}"))
                .at(&written.place, "asked for here")
                .help("write `with = \"auto\"`, which counts where the processor has counters")
                .fail(document)
        }
        _ => Ok(()),
    }
}

/// The reason why valgrind counts none of the targets, which is that of the first one; `None` where it counts
/// some.
fn no_valgrind(targets: &[Target]) -> Option<String> {
    let mut reasons = targets.iter().map(|target| {
        let reason = target.build.no_valgrind.as_ref()?;
        Some(format!("{} does not work in it: {reason}", target.name))
    });
    let first = reasons.next()?;
    first.filter(|_| reasons.all(|reason| reason.is_some()))
}
