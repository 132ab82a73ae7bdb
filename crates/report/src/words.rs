//! Numbers in words, as reports and messages show them.

/// A count with thousands separators.
pub fn count(value: u64) -> String {
    separated(&value.to_string())
}

/// A count with its noun, which takes an `s` where there is not one.
pub fn plural(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

/// An amount of memory to three digits, such as `12.3 MiB`.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut amount = value as f64;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let decimals = match amount {
        _ if unit == 0 => 0,
        amount if amount < 9.995 => 2,
        amount if amount < 99.95 => 1,
        _ => 0,
    };
    format!(
        "{} {}",
        separated(&format!("{amount:.decimals$}")),
        UNITS[unit]
    )
}

/// A time as people read it, such as `1.2 s` or `62 s`.
pub(crate) fn seconds(milliseconds: u64) -> String {
    if milliseconds >= 10_000 {
        return format!("{} s", count((milliseconds + 500) / 1000));
    }
    format!("{:.1} s", milliseconds as f64 / 1000.0)
}

/// A share in percent, to a tenth where that matters: `3 %`, `0.4 %`, `<0.1 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        percent if percent > 0.0 && percent < 0.05 => "<0.1 %".to_owned(),
        percent if percent >= 99.95 => format!("{} %", whole(percent)),
        percent => {
            let tenths = format!("{percent:.1}");
            format!("{} %", tenths.trim_end_matches(".0"))
        }
    }
}

/// A number without decimals, with thousands separators.
pub fn whole(value: f64) -> String {
    separated(&format!("{value:.0}"))
}

/// Words one after the other: `1, 4 and 32`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A text with a capital letter at its start.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A text of unknown origin as a sentence: with one period at its end.
pub(crate) fn sentence(text: &str) -> String {
    format!("{}.", text.trim_end().trim_end_matches('.'))
}

/// Puts a comma between thousands of the integer part of a plain decimal number.
pub(crate) fn separated(digits: &str) -> String {
    let (integer, fraction) = match digits.split_once('.') {
        Some((integer, fraction)) => (integer, Some(fraction)),
        None => (digits, None),
    };
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in integer.chars().enumerate() {
        if position > 0 && (integer.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(count(value), text);
        }
        assert_eq!(plural(1, "row"), "1 row");
        assert_eq!(plural(2000, "row"), "2,000 rows");
        assert_eq!(separated("12345.6789"), "12,345.6789");
        assert_eq!(whole(0.4), "0");
        assert_eq!(whole(1_234_567.0), "1,234,567");
    }

    #[test]
    fn amounts_of_memory() {
        for (value, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "0.98 KiB"),
            (8 << 20, "8.00 MiB"),
            (12_900_000, "12.3 MiB"),
            (150 << 20, "150 MiB"),
            (1_048_000_000, "999 MiB"),
            (3 << 40, "3.00 TiB"),
            (5000 << 40, "5,000 TiB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn times() {
        for (value, text) in [
            (0, "0.0 s"),
            (1234, "1.2 s"),
            (61_500, "62 s"),
            (1_200_000, "1,200 s"),
        ] {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn shares() {
        for (value, text) in [
            (0.0, "0 %"),
            (0.000_4, "<0.1 %"),
            (0.004, "0.4 %"),
            (0.03, "3 %"),
            (0.1, "10 %"),
            (12.5, "1,250 %"),
        ] {
            assert_eq!(share(value), text);
        }
    }

    #[test]
    fn lists_end_with_and() {
        let words = ["1", "4", "32"].map(str::to_owned);
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&words[..1]), "1");
        assert_eq!(listed(&words), "1, 4 and 32");
    }
}
