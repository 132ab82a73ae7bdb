//! Figures in words, as messages and progress show them.

use std::time::Duration;

/// A time in words, to two units: `700 ms`, `2.5 s`, `4 min 10 s`, `3 h 20 min`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 if !ms.is_multiple_of(1_000) => format!("{:.1} s", ms as f64 / 1e3),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000..3_600_000 => two(ms / 60_000, "min", ms % 60_000 / 1_000, "s"),
        _ => two(ms / 3_600_000, "h", ms % 3_600_000 / 60_000, "min"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// A time in words, in whole seconds.
pub(crate) fn whole(time: Duration) -> String {
    duration(time.as_secs() * 1_000).replace("0 ms", "0 s")
}

/// A rate with thousands separated.
pub(crate) fn rate(per_second: f64) -> String {
    let digits = format!("{per_second:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes as mebibytes with one decimal.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// A count with its noun.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Words one after the other: `1, 4 and 32`.
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_counts() {
        assert_eq!(plural(1, "client"), "1 client");
        assert_eq!(plural(64, "client"), "64 clients");
    }

    #[test]
    fn lists_end_with_and() {
        let words = ["1", "4", "32"].map(str::to_owned);
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&words[..1]), "1");
        assert_eq!(listed(&words), "1, 4 and 32");
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (ms, text) in [
            (0, "0 ms"),
            (700, "700 ms"),
            (2_500, "2.5 s"),
            (3_000, "3 s"),
            (59_999, "59 s"),
            (250_000, "4 min 10 s"),
            (3_600_000, "1 h"),
            (12_000_000, "3 h 20 min"),
        ] {
            assert_eq!(duration(ms), text);
        }
        assert_eq!(whole(Duration::from_millis(300)), "0 s");
    }

    #[test]
    fn rates_have_separators() {
        assert_eq!(rate(0.4), "0");
        assert_eq!(rate(999.0), "999");
        assert_eq!(rate(1_234_567.0), "1,234,567");
    }
}
