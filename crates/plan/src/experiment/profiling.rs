//! `[profiling]`: trials in which the stacks of servers are sampled.

use prony_model::{Profiling, Target};

use super::Knowledge;
use super::blocks::BLOCKS_MAX;
use super::sequence::read_time;
use crate::fields::{Fields, Located};
use crate::invalid::{Document, Problem, Read};

/// Blocks in which targets are profiled where the experiment does not say: two show how far starts of a server
/// differ.
const BLOCKS: u32 = 2;
/// Samples per second of a processor: a prime number, so that work that recurs is not met in step.
const RATE: u32 = 997;
/// The most of these. Each copies 32 KiB of stack.
const RATE_MAX: i64 = 10_000;

/// The section on profiling, as written.
#[derive(Debug)]
pub(super) struct Written {
    blocks: Option<Located<u32>>,
    rate: Option<u32>,
    time_ms: Option<u64>,
}

/// The section on profiling, as decided for this host.
#[derive(Debug, Default)]
pub(super) struct Decided {
    pub(super) profiling: Option<Profiling>,
    /// Reason why nothing is sampled although it was asked for.
    pub(super) note: Option<String>,
}

/// Reads the table `profiling`.
pub(super) fn read(mut fields: Fields<'_>) -> Read<Written> {
    let blocks = fields.optional("blocks", |value| value.count(1..=BLOCKS_MAX));
    let rate = fields.optional("rate", |value| value.count(1..=RATE_MAX));
    let time = fields.optional("time", |value| read_time(&value, 1));
    fields.finish()?;
    Ok(Written {
        blocks: blocks?,
        rate: rate?.map(|rate| rate.value),
        time_ms: time?,
    })
}

/// Decides what is sampled in an experiment of `blocks` blocks on this host.
pub(super) fn decide(
    document: &Document<'_>,
    written: Option<Written>,
    blocks: u32,
    targets: &[Target],
    knowledge: &Knowledge<'_>,
) -> Read<Decided> {
    let Some(written) = written else {
        return Ok(Decided::default());
    };
    if let Some(asked) = written.blocks.as_ref().filter(|it| it.value > blocks) {
        return Problem::new(format!(
            "targets can't be profiled in {} blocks: the experiment has {blocks}",
            asked.value
        ))
        .at(&asked.span, "more than the experiment has")
        .help(format!(
            "write a number from 1 to {blocks}, or leave it out"
        ))
        .fail(document);
    }
    let note = if targets.iter().all(|target| target.external.is_some()) {
        Some("servers that Prony does not start can't be profiled".to_owned())
    } else {
        let denied = knowledge.stack_samples.err();
        denied.map(|why| format!("the stacks of servers can't be sampled here: {why}"))
    };
    if note.is_some() {
        return Ok(Decided {
            profiling: None,
            note,
        });
    }
    Ok(Decided {
        profiling: Some(Profiling {
            blocks: written.blocks.map_or(BLOCKS, |it| it.value).min(blocks),
            rate: written.rate.unwrap_or(RATE),
            time_ms: written.time_ms,
        }),
        note: None,
    })
}
