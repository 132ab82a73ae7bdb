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

/// Fills `{value}` and, for numbers, `{value/N}`: a whole number, rounded down.
pub(super) fn fill(option: &str, value: &IntentValue) -> String {
    let filled = option.replace("{value}", &value_text(value));
    let (IntentValue::Number(number) | IntentValue::Bytes(number)) = value else {
        return filled;
    };
    let Some((before, rest)) = filled.split_once("{value/") else {
        return filled;
    };
    let divided = rest.split_once('}').and_then(|(divisor, after)| {
        let number = number.checked_div(divisor.parse().ok()?)?;
        Some(format!("{before}{number}{after}"))
    });
    divided.unwrap_or(filled)
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
        assert_eq!(fill("a={value}", &IntentValue::Text("b".into())), "a=b");
    }
}
