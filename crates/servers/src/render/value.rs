//! Values of intents as text, and their places in options.

use prony_model::{IntentKind, IntentValue};

use crate::intents::value_text;

/// A value as a message shows it.
pub(super) fn shown(kind: IntentKind, value: &IntentValue) -> String {
    match (kind, value) {
        (IntentKind::Bytes, IntentValue::Number(bytes)) => size_text(*bytes),
        _ => value_text(value),
    }
}

/// A value as the table writes it, as a message shows it.
pub(super) fn shown_choice(kind: IntentKind, text: &str) -> String {
    match (kind, text.parse()) {
        (IntentKind::Bytes, Ok(bytes)) => size_text(bytes),
        _ => text.to_owned(),
    }
}

/// Bytes with the largest suffix that leaves a whole number, such as `96M`.
pub(super) fn size_text(bytes: u64) -> String {
    let suffixes = [(40, "T"), (30, "G"), (20, "M"), (10, "K")];
    let whole = |shift: &u32| bytes != 0 && bytes.is_multiple_of(1 << shift);
    match suffixes.iter().find(|(shift, _)| whole(shift)) {
        Some((shift, suffix)) => format!("{}{suffix}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// Whether a value is of a kind.
pub(super) fn fits(kind: IntentKind, value: &IntentValue) -> bool {
    matches!(
        (kind, value),
        (IntentKind::Flag, IntentValue::Flag(_))
            | (
                IntentKind::Number | IntentKind::Bytes,
                IntentValue::Number(_)
            )
            | (IntentKind::Text | IntentKind::Cpus, IntentValue::Text(_))
    )
}

/// Fills `{value}` and, for numbers, `{value/N}`: a whole number, rounded down.
pub(super) fn fill(option: &str, value: &IntentValue) -> String {
    let filled = option.replace("{value}", &value_text(value));
    let IntentValue::Number(number) = value else {
        return filled;
    };
    let Some((before, rest)) = filled.split_once("{value/") else {
        return filled;
    };
    match rest.split_once('}') {
        Some((divisor, after)) => match divisor.parse::<u64>() {
            Ok(divisor @ 1..) => format!("{before}{}{after}", number / divisor),
            _ => filled,
        },
        None => filled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled() {
        let number = IntentValue::Number(96 << 20);
        assert_eq!(fill("a={value}", &number), "a=100663296");
        assert_eq!(fill("a={value/2}K", &number), "a=50331648K");
        assert_eq!(fill("a={value/0}", &number), "a={value/0}");
        assert_eq!(fill("a={value}", &IntentValue::Text("b".into())), "a=b");
    }

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [(0, "0"), (1, "1"), (96 << 20, "96M"), (1 << 40, "1T")] {
            assert_eq!(size_text(bytes), text);
        }
    }
}
