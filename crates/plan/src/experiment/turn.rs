//! `turn`: the time after which the targets of a block take turns within a step.

use prony_model::Target;

use super::sequence::read_time;
use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};

/// Shorter turns are little but beginnings: clients, caches and readings begin anew in each.
const SHORTEST_MS: u64 = 20;
/// Longer ones share hardly more than trials that follow each other.
const LONGEST_MS: u64 = 10_000;

/// Reads `turn`, in milliseconds.
pub(super) fn read(value: &Value<'_>) -> Read<Located<u64>> {
    let (span, document) = (value.span(), value.document());
    let ms = read_time(value, 1)?;
    if (SHORTEST_MS..=LONGEST_MS).contains(&ms) {
        return Ok(Located { value: ms, span });
    }
    Problem::new("a turn lasts from 20ms to 10s")
        .at(&span, "out of range")
        .help("write `turn = \"100ms\"`, or remove `turn` to run one target after another")
        .fail(document)
}

/// The turns of an experiment with these targets.
pub(super) fn decide(
    document: &Document<'_>,
    written: Option<Located<u64>>,
    targets: &[Target],
) -> Read<Option<u64>> {
    let Some(written) = written else {
        return Ok(None);
    };
    let external = targets.iter().find(|target| target.external.is_some());
    let message = match (external, targets) {
        (Some(target), _) => format!(
            "`{}` can't take turns: Prony does not start its server, and can't pause it",
            target.name
        ),
        (None, [_]) => "one target has nobody to take turns with".to_owned(),
        (None, _) => return Ok(Some(written.value)),
    };
    Problem::new(message)
        .at(&written.span, "asked for here")
        .help("remove `turn`")
        .fail(document)
}
