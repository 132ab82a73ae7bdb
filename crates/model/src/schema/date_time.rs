//! Dates with a time in whole seconds, without time zones.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::written_as_text;

/// A moment, in seconds since the begin of 1970, written `2024-01-01 00:00:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DateTime(i64);

/// Said of a text that is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a date with a time: write one such as 2024-01-01 00:00:00")]
pub struct DateTimeError(pub String);

const DAY: i64 = 24 * 60 * 60;

impl DateTime {
    /// The first moment that every server has.
    pub const MIN: Self = Self(-30_610_224_000);
    /// The last one.
    pub const MAX: Self = Self(253_402_300_799);

    /// Length of a moment as text.
    pub const LENGTH: usize = 19;

    /// The moment this many seconds later, or the first or last one.
    #[must_use]
    pub fn plus(self, seconds: i64) -> Self {
        Self(
            self.0
                .saturating_add(seconds)
                .clamp(Self::MIN.0, Self::MAX.0),
        )
    }

    /// True where the moment this many seconds later is one that every server has.
    pub fn has(self, seconds: i64) -> bool {
        let later = self.0.checked_add(seconds);
        later.is_some_and(|later| (Self::MIN.0..=Self::MAX.0).contains(&later))
    }

    /// Its text.
    pub fn text(self) -> [u8; Self::LENGTH] {
        let (days, seconds) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = date(days);
        let mut text = *b"0000-00-00 00:00:00";
        let mut put = |at: usize, width: usize, mut number: i64| {
            for digit in text[at..at + width].iter_mut().rev() {
                *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
                number /= 10;
            }
        };
        put(0, 4, year);
        put(5, 2, month);
        put(8, 2, day);
        put(11, 2, seconds / 3600);
        put(14, 2, seconds / 60 % 60);
        put(17, 2, seconds % 60);
        text
    }
}

/// Year, month and day of a day counted from the begin of 1970. Years begin in March here, so that
/// the day that some of them lack is their last (Hinnant: `chrono`-compatible low-level date
/// algorithms, 2013).
const fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// The day of a date, counted from the begin of 1970.
const fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

impl FromStr for DateTime {
    type Err = DateTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || -> Option<Self> {
            let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
            let day = day_of(number(0, 4)?, number(5, 7)?, number(8, 10)?);
            let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
            Some(Self(day * DAY + seconds))
        };
        // Whatever is not written as it would be is not a moment: the 30th of February, signs.
        read()
            .filter(|moment| (Self::MIN..=Self::MAX).contains(moment))
            .filter(|moment| moment.text() == text.as_bytes())
            .ok_or_else(|| DateTimeError(text.to_owned()))
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text()))
    }
}

written_as_text!(DateTime, DateTimeError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_they_are_read() {
        for text in [
            "1000-01-01 00:00:00",
            "1969-12-31 23:59:59",
            "1970-01-01 00:00:00",
            "2000-02-29 12:34:56",
            "2024-12-31 23:59:59",
            "9999-12-31 23:59:59",
        ] {
            assert_eq!(text.parse::<DateTime>().unwrap().to_string(), text);
        }
        for bad in [
            "",
            "2024-01-01",
            "2024-02-30 00:00:00",
            "2023-02-29 00:00:00",
            "2024-01-01 24:00:00",
            "0999-12-31 23:59:59",
            "2024-01-01T00:00:00",
            "+024-01-01 00:00:00",
        ] {
            assert!(bad.parse::<DateTime>().is_err(), "{bad}");
        }
    }

    #[test]
    fn seconds_count_on() {
        let begin: DateTime = "2024-02-28 23:59:59".parse().unwrap();
        assert_eq!(begin.plus(1).to_string(), "2024-02-29 00:00:00");
        assert_eq!(begin.plus(1 + DAY).to_string(), "2024-03-01 00:00:00");
        assert!(begin.has(DAY) && !begin.has(i64::MAX));
    }
}
