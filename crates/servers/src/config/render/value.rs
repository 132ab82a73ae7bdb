//! Values of intents as text, and their places in options.

use prony_model::{IntentKind, IntentValue};

use crate::config::intents::value_text;

/// A value as the table writes it, as a message shows it.
pub(super) fn shown(kind: IntentKind, text: &str) -> String {
    match (kind, text.parse()) {
        (IntentKind::Bytes, Ok(bytes)) => IntentValue::Bytes(bytes).to_string(),
        _ => text.to_owned(),
    }
}

/// True for a value of the kind.
pub(super) fn fits(kind: IntentKind, value: &IntentValue) -> bool {
    matches!(
        (kind, value),
        (IntentKind::Flag, IntentValue::Flag(_))
            | (
                IntentKind::Number | IntentKind::Bytes,
                IntentValue::Number(_)
            )
            | (IntentKind::Bytes, IntentValue::Bytes(_))
            | (IntentKind::Text, IntentValue::Text(_))
    )
}

/// Fills `{value}` and, for numbers, holes that reckon with whole numbers, from left to right: `{value/2}`
/// is rounded down, `{value*19/10+15}` has three steps.
pub(super) fn fill(option: &str, value: &IntentValue) -> String {
    let filled = option.replace("{value}", &value_text(value));
    let (IntentValue::Number(number) | IntentValue::Bytes(number)) = value else {
        return filled;
    };
    let Some((before, rest)) = filled.split_once("{value") else {
        return filled;
    };
    let reckoned = rest.split_once('}').and_then(|(steps, after)| {
        let number = reckon(*number, steps)?;
        Some(format!("{before}{number}{after}"))
    });
    reckoned.unwrap_or(filled)
}

/// The result of steps such as `*19/10+15`; `None` for anything else, and where a step can't be done.
fn reckon(number: u64, steps: &str) -> Option<u64> {
    let Some(sign) = steps.chars().next() else {
        return Some(number);
    };
    let rest = steps.strip_prefix(sign)?;
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let (by, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let by = by.parse().ok()?;
    let number = match sign {
        '*' => number.checked_mul(by),
        '/' => number.checked_div(by),
        '+' => number.checked_add(by),
        _ => None,
    };
    reckon(number?, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled() {
        let number = IntentValue::Bytes(96 << 20);
        assert_eq!(fill("a={value}", &number), "a=100663296");
        assert_eq!(fill("a={value/2}K", &number), "a=50331648K");
        assert_eq!(fill("a={value/0}", &number), "a={value/0}");
        let parts = "a={value*19/10485760+15}MB";
        assert_eq!(fill(parts, &number), "a=197MB");
        assert_eq!(fill("a={value-1}", &number), "a={value-1}");
        assert_eq!(fill("a={value}", &IntentValue::Text("b".into())), "a=b");
    }
}
