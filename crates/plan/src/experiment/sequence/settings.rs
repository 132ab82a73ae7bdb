//! What a sequence sets for all of its steps: the table `[sequence]` of an experiment, and the top
//! of a preset.

use prony_model::Timing;

use super::time::{Limit, read_limit, read_time};
use crate::fields::{Fields, Located, Value};
use crate::invalid::Read;

const TIMINGS: [(&str, Timing); 2] = [
    ("operations", Timing::Operations),
    ("whole-run", Timing::WholeRun),
];

/// What holds for the steps that do not set it themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) warmup_ms: Option<u64>,
    pub(super) limit: Option<Located<Limit>>,
    pub(super) timing: Option<Timing>,
}

/// Reads the settings among the keys of a table.
pub(super) fn read(fields: &mut Fields<'_>) -> Read<Settings> {
    let warmup = fields.optional("warmup", |value| read_time(&value, 0));
    let limit = read_limit(fields);
    let timing = fields.optional("timing", read_timing);
    Ok(Settings {
        warmup_ms: warmup?,
        limit: limit?,
        timing: timing?,
    })
}

/// Reads which time counts.
pub(super) fn read_timing(value: Value<'_>) -> Read<Timing> {
    value.choice(&TIMINGS).map(|timing| timing.value)
}
