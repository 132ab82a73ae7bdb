//! Lengths of time as files write them: `500ms`, `10s`, `5m`, `2h`; and `50us` where short ones
//! matter.

use std::str::FromStr;

/// A length of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Milliseconds(pub(crate) u64);

/// A length of time in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Microseconds(pub(crate) u64);

/// The reason why a text is not a duration.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    #[error("`{0}` is not a duration")]
    Syntax(String),
    #[error("`{0}` is a negative duration")]
    Negative(String),
    #[error("`{0}` is longer than a year")]
    TooLong(String),
}

/// Units and their microseconds. Longer names first where one ends like another.
const UNITS: [(&str, u64); 5] = [
    ("us", 1),
    ("ms", 1000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
];

/// Longest time accepted, so that sums of times fit 64 bits.
const LONGEST_US: u64 = 365 * 24 * 3_600_000_000;

impl FromStr for Milliseconds {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let us = parse(text, &UNITS[1..])?;
        Ok(Self(us / 1000))
    }
}

impl FromStr for Microseconds {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text, &UNITS).map(Self)
    }
}

/// Microseconds of a text in one of these units.
fn parse(text: &str, units: &[(&str, u64)]) -> Result<u64, DurationError> {
    let syntax = || DurationError::Syntax(text.to_owned());
    if let Some(rest) = text.strip_prefix('-') {
        parse(rest, units).map_err(|_| syntax())?;
        return Err(DurationError::Negative(text.to_owned()));
    }
    let (digits, unit_us) = units
        .iter()
        .find_map(|(unit, us)| Some((text.strip_suffix(unit)?, *us)))
        .ok_or_else(syntax)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(syntax());
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit_us))
        .filter(|us| *us <= LONGEST_US)
        .ok_or_else(|| DurationError::TooLong(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_four_units() {
        for (text, ms) in [
            ("0s", 0),
            ("500ms", 500),
            ("10s", 10_000),
            ("5m", 300_000),
            ("2h", 7_200_000),
        ] {
            assert_eq!(text.parse(), Ok(Milliseconds(ms)), "{text}");
        }
    }

    #[test]
    fn short_times_have_a_unit_of_their_own() {
        assert_eq!("50us".parse(), Ok(Microseconds(50)));
        assert_eq!("2ms".parse(), Ok(Microseconds(2000)));
        assert_eq!("2h".parse(), Ok(Microseconds(7_200_000_000)));
        let refused = DurationError::Syntax("50us".into());
        assert_eq!("50us".parse::<Milliseconds>(), Err(refused));
    }

    #[test]
    fn refuses_everything_else() {
        let error = |text: &str| text.parse::<Milliseconds>().unwrap_err();
        for bad in [
            "", "s", "10", "1.5s", "10 s", "1m30s", "10 sec", "5S", "--5s",
        ] {
            assert_eq!(error(bad), DurationError::Syntax(bad.into()));
        }
        assert_eq!(error("-5s"), DurationError::Negative("-5s".into()));
        assert_eq!(error("9000h"), DurationError::TooLong("9000h".into()));
        let endless = "99999999999999999999s";
        assert_eq!(error(endless), DurationError::TooLong(endless.into()));
    }
}
