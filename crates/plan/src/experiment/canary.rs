//! `[canary]`: the bound on the change of canaries, and its effect on trials.

use prony_model::{CanaryRule, Target, Thousandths};
use toml::de::DeValue;

use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};

/// The least bound: below it, the resolution of the canary decides.
const BOUND_MIN: Thousandths = Thousandths(100);
/// The greatest bound: a factor of eleven.
const BOUND_MAX: Thousandths = Thousandths(1_000_000);

/// Form of a bound.
const BOUND_RULE: &str =
    "write a number from 0.1 to 1000 with at most three decimals and its sign, such as \"10 %\"";

/// The section on canaries, as written.
#[derive(Debug)]
pub(super) struct Written {
    bound: Option<Thousandths>,
    exclude: Option<Located<bool>>,
}

/// Reads `[canary]`.
pub(super) fn read(value: Value<'_>) -> Read<Written> {
    let mut fields = value.table("the canary")?;
    let bound = fields.optional("bound", read_percent);
    let exclude = fields.optional("exclude", |value| {
        let span = value.span();
        let value = value.flag()?;
        Ok(Located { value, span })
    });
    fields.finish()?;
    Ok(Written {
        bound: bound?,
        exclude: exclude?,
    })
}

/// Reads a percentage: `"10 %"`.
fn read_percent(value: Value<'_>) -> Read<Thousandths> {
    let (document, span) = (value.document(), value.span());
    let problem = match value.inner() {
        DeValue::Integer(_) | DeValue::Float(_) => {
            Problem::new("a percentage needs its sign").at(&span, "no sign")
        }
        _ => {
            let written = value.text()?;
            match percent(written.value) {
                Some(bound) if (BOUND_MIN..=BOUND_MAX).contains(&bound) => return Ok(bound),
                Some(_) => Problem::new(format!("`{}` is out of range", written.value))
                    .at(&span, "this can't be used"),
                None => Problem::new(format!("`{}` is not a percentage", written.value))
                    .at(&span, "not a percentage"),
            }
        }
    };
    problem.help(BOUND_RULE).fail(document)
}

/// The percentage in a text such as `10 %` or `2.5%`, with at most three decimals.
fn percent(text: &str) -> Option<Thousandths> {
    let number = text.strip_suffix('%')?.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 3 {
        return None;
    }
    format!("{whole}{decimals:0<3}")
        .parse()
        .ok()
        .map(Thousandths)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        for (text, thousandths) in [
            ("10 %", Some(10_000)),
            ("10%", Some(10_000)),
            ("2.5 %", Some(2_500)),
            ("0.125 %", Some(125)),
            ("0.1251 %", None),
            ("1. %", None),
            (".5 %", None),
            ("10", None),
            ("-10 %", None),
            ("1e1 %", None),
            ("%", None),
            ("99999999 %", None),
        ] {
            assert_eq!(percent(text), thousandths.map(Thousandths), "{text}");
        }
    }
}
