//! What a sequence sets for all of its steps: the table `[sequence]` of an experiment, and the top
//! of a preset.

use prony_model::{Expr, Timing};

use super::time::{Limit, read_limit, read_time};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Problem, Read};

/// Settings of the steps that set none themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) warmup_ms: Option<u64>,
    pub(super) ramp_ms: Option<u64>,
    pub(super) limit: Option<Located<Limit<Expr>>>,
    pub(super) timing: Option<Timing>,
}

/// Reads the settings among the keys of a table.
pub(super) fn read(fields: &mut Fields<'_>) -> Read<Settings> {
    let document = fields.document();
    let read_load = |value: Value<'_>| {
        Ok(Located {
            value: read_time(&value, 0)?,
            span: value.span(),
        })
    };
    let warmup = fields.optional("warmup", read_load);
    let ramp = fields.optional("ramp", read_load);
    let limit = read_limit(fields);
    let timing = fields.optional("timing", |value| {
        let span = value.span();
        read_timing(value).map(|value| Located { value, span })
    });
    let (warmup, ramp, timing) = (warmup?, ramp?, timing?);
    for (before, what) in [(&warmup, "warm-up"), (&ramp, "ramp")] {
        if let (Some(before), Some(timing)) = (before, &timing)
            && before.value > 0
            && timing.value == Timing::WholeRun
        {
            return Problem::new(format!("steps whose whole run is timed have no {what}"))
                .at(&before.span, format!("a {what}"))
                .at(&timing.span, "the whole run")
                .help("remove one of them; a step can have a `timing` of its own")
                .fail(document);
        }
    }
    Ok(Settings {
        warmup_ms: warmup.map(|warmup| warmup.value),
        ramp_ms: ramp.map(|ramp| ramp.value),
        limit: limit?,
        timing: timing.map(|timing| timing.value),
    })
}

/// Reads which time counts.
pub(super) fn read_timing(value: Value<'_>) -> Read<Timing> {
    value.choice(&Timing::NAMED).map(|timing| timing.value)
}
