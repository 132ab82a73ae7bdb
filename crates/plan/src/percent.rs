//! Percentages as files write them: `"10 %"`, `"2.5%"`.

use std::ops::RangeInclusive;

use prony_model::Thousandths;
use toml::de::DeValue;

use crate::fields::{Located, Value};
use crate::invalid::{Problem, Read};

/// Reads a percentage in `range`. `example` is shown to those who write another one.
pub(crate) fn read(
    value: Value<'_>,
    range: RangeInclusive<Thousandths>,
    example: &str,
) -> Read<Located<Thousandths>> {
    let (document, span) = (value.document(), value.span());
    let problem = match value.inner() {
        DeValue::Integer(_) | DeValue::Float(_) => {
            Problem::new("a percentage needs its sign").at(&span, "no sign")
        }
        _ => {
            let written = value.text()?;
            match percent(written.value) {
                Some(value) if range.contains(&value) => return Ok(Located { value, span }),
                Some(_) => Problem::new(format!("`{}` is out of range", written.value))
                    .at(&span, "this can't be used"),
                None => Problem::new(format!("`{}` is not a percentage", written.value))
                    .at(&span, "not a percentage"),
            }
        }
    };
    problem
        .help(format!(
            "write a number from {} to {} with at most three decimals and its sign, such as \
             \"{example}\"",
            range.start(),
            range.end()
        ))
        .fail(document)
}

/// Reads a difference of ratios that matters, or is wanted to be seen: 0.1 to 50 %. Smaller ones
/// are below what any host resolves, larger ones no difference that needs to be measured.
pub(crate) fn read_difference(value: Value<'_>) -> Read<Located<Thousandths>> {
    read(value, Thousandths(100)..=Thousandths(50_000), "2 %")
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
