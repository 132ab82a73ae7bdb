//! `collect`: what is read while targets are measured.

use prony_model::{Aspect, Collect, KeptSamples, RidingCounters};
use toml::de::DeValue;

use super::sequence::read_time;
use super::setting::{self, Axis, Setting};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Problem, Read};

/// Least time between two samples, in milliseconds: the sampler must not become a load itself.
const PERIOD_LEAST_MS: u64 = 10;

/// Reads `collect`: a table whose missing keys have their defaults, or `"nothing"`.
pub(super) fn read<'k>(value: Value<'_>) -> Read<Located<Setting<'k>>> {
    let span = value.span();
    let collect = match value.inner() {
        DeValue::String(word) if word == "nothing" => Collect::NOTHING,
        DeValue::Table(_) => read_table(value.table("what is collected")?)?,
        _ => {
            return Problem::new("`collect` must be a table, or \"nothing\"")
                .at(&span, "neither of them")
                .help("write the differences from the defaults, such as { status = false }")
                .fail(value.document());
        }
    };
    Ok(Located {
        value: Setting::Collect(collect),
        span,
    })
}

fn read_table(mut fields: Fields<'_>) -> Read<Collect> {
    let default = Collect::default();
    let period = fields.optional("period", |value| read_period(&value));
    let system = fields.optional("system", Value::flag);
    let cgroup = fields.optional("cgroup", Value::flag);
    let status = fields.optional("status", Value::flag);
    let counters = fields.optional("counters", |value| value.choice(&RidingCounters::NAMED));
    fields.finish()?;
    let period = period?;
    Ok(Collect {
        kept: match period {
            Some(Some(_)) => KeptSamples::All,
            _ => default.kept,
        },
        period_ms: period.unwrap_or(default.period_ms),
        system: system?.unwrap_or(default.system),
        cgroup: cgroup?.unwrap_or(default.cgroup),
        status: status?.unwrap_or(default.status),
        counters: counters?.map_or(default.counters, |counters| counters.value),
    })
}

/// Reads the time between two samples in milliseconds; `None` for `"off"`.
fn read_period(value: &Value<'_>) -> Read<Option<u64>> {
    if matches!(value.inner(), DeValue::String(word) if word == "off") {
        return Ok(None);
    }
    let ms = read_time(value, 0)?;
    if ms < PERIOD_LEAST_MS {
        return Err(value.report(
            format!("must be at least \"{PERIOD_LEAST_MS}ms\", or \"off\""),
            "sampling would be a load itself",
        ));
    }
    Ok(Some(ms))
}

/// Checks that an external target does not ask for counters itself: they are opened when a server
/// is born.
pub(super) fn check_external(document: &Document<'_>, own: &[Axis<'_>]) -> Read<()> {
    let mut outcome = Ok(());
    for value in setting::values(own, &Aspect::Collect) {
        let Setting::Collect(collect) = &value.value else {
            continue;
        };
        if by_name(*collect) {
            outcome = Problem::new(format!(
                "{} counters are unavailable: Prony does not start this server",
                collect.counters.name()
            ))
            .at(&value.span, "asked for here")
            .help("counters are opened when a server is born; leave `counters` out")
            .fail(document);
        }
    }
    outcome
}

/// What an external target takes of the defaults: counters that they ask for by name are off, as
/// they are unavailable for it, and this target did not request them.
pub(super) fn for_external(mut axis: Axis<'_>) -> Axis<'_> {
    let mut values: Vec<Located<Setting<'_>>> = Vec::new();
    for mut value in axis.values {
        if let Setting::Collect(collect) = &mut value.value
            && by_name(*collect)
        {
            collect.counters = RidingCounters::Off;
        }
        // Those of a matrix can differ in nothing else.
        if values.iter().all(|other| other.value != value.value) {
            values.push(value);
        }
    }
    axis.values = values;
    axis
}

/// True where counters are asked for that have to be opened, whatever the host.
const fn by_name(collect: Collect) -> bool {
    matches!(
        collect.counters,
        RidingCounters::Software | RidingCounters::Hardware
    )
}
