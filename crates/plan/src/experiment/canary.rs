//! `[canary]`: the bound on the change of canaries, and its effect on trials.

use prony_model::{CanaryRule, Target, Thousandths};

use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};
use crate::percent;

/// The least bound: below it, the resolution of the canary decides.
const BOUND_MIN: Thousandths = Thousandths(100);
/// The greatest bound: a factor of eleven.
const BOUND_MAX: Thousandths = Thousandths(1_000_000);

/// The section on canaries, as written.
#[derive(Debug)]
pub(super) struct Written {
    bound: Option<Thousandths>,
    exclude: Option<Located<bool>>,
}

/// Reads `[canary]`.
pub(super) fn read(value: Value<'_>) -> Read<Written> {
    let mut fields = value.table("the canary")?;
    let bound = fields.optional("bound", |value| {
        percent::read(value, BOUND_MIN..=BOUND_MAX, "10 %")
    });
    let exclude = fields.optional("exclude", Value::located_flag);
    fields.finish()?;
    Ok(Written {
        bound: bound?.map(|bound| bound.value),
        exclude: exclude?,
    })
}

/// Decides the rule of an experiment with these targets.
pub(super) fn decide(
    document: &Document<'_>,
    written: Option<Written>,
    targets: &[Target],
) -> Read<CanaryRule> {
    let Some(Written { bound, exclude }) = written else {
        return Ok(CanaryRule::default());
    };
    let external = targets.iter().find(|target| target.external.is_some());
    if let (Some(exclude), Some(external)) = (&exclude, external)
        && exclude.value
    {
        return Problem::new(format!(
            "trials can't be excluded by their canaries: the server of `{}` runs beside these",
            external.name
        ))
        .at(&exclude.span, "asked for here")
        .help("leave this target out, or remove `exclude`")
        .fail(document);
    }
    Ok(CanaryRule {
        bound_percent: bound.unwrap_or(CanaryRule::BOUND_PERCENT),
        exclude: exclude.is_some_and(|exclude| exclude.value),
    })
}
