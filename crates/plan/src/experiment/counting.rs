//! `[counting]`: trials that count instead of measuring time.

use prony_model::{CountedBy, Counting, Target};
use toml::de::DeValue;

use super::sequence::read_operations;
use super::{BLOCKS_MAX, Knowledge};
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
    Off,
    This(CountedBy),
}

const WITH: [(&str, With); 4] = [
    ("auto", With::Auto),
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
    let place = fields.span();
    let blocks = fields.optional("blocks", |value| value.count(1..=BLOCKS_MAX));
    let with = fields.optional("with", read_with);
    let operations = fields.optional("operations", read_operations);
    fields.finish()?;
    let with = with?;
    Ok(Written {
        blocks: blocks?,
        with: with.as_ref().map_or(With::Auto, |with| with.value),
        place: with.map_or(place, |with| with.span),
        operations: operations?.map(|operations| operations.value),
    })
}

fn read_with(value: Value<'_>) -> Read<Located<With>> {
    let document = value.document();
    let word = value.text()?;
    if let Some((_, with)) = WITH.iter().find(|(name, _)| *name == word.value) {
        return Ok(word.map(|_| *with));
    }
    let names = WITH.map(|(name, _)| name);
    Problem::new(format!("can't count with `{}`", word.value))
        .at(&word.span, "nothing that counts")
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
        With::Auto if targets.iter().all(|target| target.external.is_some()) => {
            Err("servers that Prony does not start can't be counted".to_owned())
        }
        With::Auto => match knowledge.hardware_counters {
            Ok(()) => Ok(CountedBy::Hardware),
            Err(why) => Err(format!(
                "the processor's counters can't be read here: {why}; `with = \"valgrind\"` in \
                 [counting] counts without them"
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
        _ => Ok(()),
    }
}
