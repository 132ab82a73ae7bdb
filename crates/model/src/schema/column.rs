//! Columns: their types, and the rules for the values of rows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::date_time::DateTime;
use crate::text::written_as_text;
use crate::{Distribution, Expr, ExprRange, Thousandths};

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenColumn", into = "WrittenColumn")]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: ColumnType,
    /// The value of rows that are inserted without one, as text; `None` where there is none.
    pub default: Option<String>,
    /// The rule for the values of loaded rows.
    pub value: ColumnValue,
}

/// Types of columns. No column is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ColumnType {
    /// `number`: an INTEGER, or a BIGINT in tables of 2,000,000,000 rows and more.
    Number,
    /// `integer`: 32 bits with a sign.
    Integer,
    /// `bigint`: 64 bits with a sign.
    Bigint,
    /// `char(n)`: a text, of which the server takes away spaces at the end.
    Char(u32),
    /// `varchar(n)`: a text.
    Varchar(u32),
    /// `datetime`: a date with a time in whole seconds.
    Datetime,
}

/// Said of a word that is not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a type: write number, integer, bigint, char(n) with n up to 255, varchar(n) \
     with n up to 4000, or datetime"
)]
pub struct ColumnTypeError(pub String);

/// Most characters of a CHAR, and of a VARCHAR, so that a row of several fits every server.
const CHAR_MAX: u32 = 255;
const VARCHAR_MAX: u32 = 4000;

/// The rule for the values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnValue {
    /// A number.
    Number(NumberRule),
    /// A date with a time: this many seconds after a moment.
    DateTime {
        /// The moment 0.
        since: DateTime,
        /// Seconds after it.
        seconds: NumberRule,
    },
    /// The same text in all rows.
    Constant(String),
    /// A text that is made from a number.
    Numbered(NumberedText, NumberRule),
    /// A text in which every `#` is a random digit.
    Digits(String),
    /// A text of a random length, whose first part is random letters; the others are `a`.
    Letters {
        /// The lengths, all equally likely.
        lengths: Lengths,
        /// The share of random letters.
        random: Thousandths,
    },
}

/// The rule for a number of each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NumberRule {
    /// A sum of `row`, which is the number of the row from 1 on, `rows_before`, which is less by one,
    /// `rows` and `tables`.
    Computed(Expr),
    /// Drawn from a range, whose ends are made of `rows` and `tables`.
    Drawn {
        /// Both ends, included.
        range: ExprRange,
        /// The likelihood of each value. *Sequential* and *unique* go through the range row after row.
        distribution: Distribution,
    },
}

/// A text with a number in it, written `user{number:12}`: 12 digits, with zeros in front.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NumberedText {
    /// The text before the number.
    pub before: String,
    /// Digits of the number.
    pub digits: u32,
    /// The text after the number.
    pub after: String,
}

/// Said of a text that has no place for a number, or several.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` has no place for a number such as {{number:12}}, which has 1 to 19 digits")]
pub struct NumberedTextError(pub String);

/// Lengths of a text, written `10..20` with both ends included, or `10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Lengths {
    /// The shortest.
    pub min: u32,
    /// The longest.
    pub max: u32,
}

/// Said of a text that is not a range of lengths.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a length: write a number such as 10, or a range such as 10..20")]
pub struct LengthsError(pub String);

/// A column as files have it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenColumn {
    /// The name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// The default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// A number to be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Expr>,
    /// A range to draw a number from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<ExprRange>,
    /// The likelihood of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Distribution>,
    /// A text, with a place for the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The moment from which the number counts seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime>,
    /// A text with places for digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<String>,
    /// Lengths of a text of letters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letters: Option<Lengths>,
    /// The share of random letters in it, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "share")]
    pub random: Option<Thousandths>,
}

/// The reason why a column has no clear rule, or none that makes values of its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// Not exactly one rule.
    #[error("`{0}` has no clear rule for its values")]
    Unclear(String),
    /// The text has no place for the number, or has a place and there is no number.
    #[error("`{text}` and a number do not go together")]
    Place {
        /// The text.
        text: String,
    },
    /// The values are of another kind than the type.
    #[error("a {kind} column can't hold {values}")]
    Type {
        /// The type.
        kind: ColumnType,
        /// Name of the values, in the plural.
        values: &'static str,
    },
    /// The longest value does not fit.
    #[error("a {kind} column can't hold {length} characters")]
    Length {
        /// The type.
        kind: ColumnType,
        /// Characters of the longest value.
        length: u32,
    },
    /// Characters that would need escaping.
    #[error("`{0}` has other characters than letters, digits, blanks and -_.,:;/+")]
    Characters(String),
}

/// A share as files have it: a number from 0 to 1.
mod share {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::Thousandths;

    #[expect(
        clippy::ref_option,
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes references"
    )]
    pub(super) fn serialize<S: Serializer>(
        share: &Option<Thousandths>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        share.map(Thousandths::as_f64).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Thousandths>, D::Error> {
        let share = f64::deserialize(deserializer)?;
        let mut thousandths = 0..=1000;
        let found = thousandths.find(|n| (f64::from(*n) - share * 1000.0).abs() < 1e-6);
        let found = found.ok_or_else(|| {
            D::Error::custom("a share is a number from 0 to 1 with at most three decimals")
        })?;
        Ok(Some(Thousandths(found)))
    }
}

impl ColumnType {
    /// True where the values are whole numbers.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::Integer | Self::Bigint)
    }

    /// Characters that a value may have; `None` where it is not a text.
    pub const fn characters(self) -> Option<u32> {
        match self {
            Self::Char(length) | Self::Varchar(length) => Some(length),
            _ => None,
        }
    }
}

impl FromStr for ColumnType {
    type Err = ColumnTypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let length = |rest: &str, most: u32| -> Option<u32> {
            let digits = rest.strip_prefix('(')?.strip_suffix(')')?;
            let length = digits.parse().ok()?;
            (1..=most).contains(&length).then_some(length)
        };
        let sized = || {
            if let Some(rest) = text.strip_prefix("char") {
                return length(rest, CHAR_MAX).map(Self::Char);
            }
            length(text.strip_prefix("varchar")?, VARCHAR_MAX).map(Self::Varchar)
        };
        match text {
            "number" => Ok(Self::Number),
            "integer" => Ok(Self::Integer),
            "bigint" => Ok(Self::Bigint),
            "datetime" => Ok(Self::Datetime),
            _ => sized().ok_or_else(|| ColumnTypeError(text.to_owned())),
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("number"),
            Self::Integer => f.write_str("integer"),
            Self::Bigint => f.write_str("bigint"),
            Self::Char(length) => write!(f, "char({length})"),
            Self::Varchar(length) => write!(f, "varchar({length})"),
            Self::Datetime => f.write_str("datetime"),
        }
    }
}

written_as_text!(ColumnType, ColumnTypeError);

impl NumberRule {
    /// The names that stand for the row.
    pub const ROW: [&str; 2] = ["row", "rows_before"];

    /// True where no two rows of a table have the same number, as long as the range has enough of
    /// them.
    pub fn is_unique(&self) -> bool {
        let is_row = |name: &str| Self::ROW.contains(&name);
        match self {
            Self::Computed(expr) => expr.names().any(is_row) && self.is_linear(),
            Self::Drawn { distribution, .. } => matches!(
                distribution,
                Distribution::Unique | Distribution::Sequential
            ),
        }
    }

    /// True where a computed number grows by the same from row to row: the row is in no quotient.
    pub fn is_linear(&self) -> bool {
        match self {
            Self::Computed(expr) => expr.nonlinear(|name| Self::ROW.contains(&name)).is_none(),
            Self::Drawn { .. } => false,
        }
    }
}

impl ColumnValue {
    /// The number that the values are made from, if they are.
    pub const fn number(&self) -> Option<&NumberRule> {
        match self {
            Self::Number(rule) | Self::Numbered(_, rule) => Some(rule),
            Self::DateTime { seconds, .. } => Some(seconds),
            Self::Constant(_) | Self::Digits(_) | Self::Letters { .. } => None,
        }
    }

    /// True where no two rows of a table have the same value, as long as the range has enough of them.
    pub fn is_unique(&self) -> bool {
        self.number().is_some_and(NumberRule::is_unique)
    }

    /// True where no number is below 0, as far as can be told without a dataset.
    pub fn is_natural(&self) -> bool {
        let is_natural = |expr: &Expr| !expr.to_string().contains('-');
        self.number().is_none_or(|rule| match rule {
            NumberRule::Computed(expr) => is_natural(expr),
            NumberRule::Drawn { range, .. } => is_natural(&range.low),
        })
    }

    /// Characters of the longest value; 0 for a number.
    pub fn longest(&self) -> u32 {
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        match self {
            Self::Number(_) => 0,
            Self::DateTime { .. } => 19,
            Self::Constant(text) | Self::Digits(text) => length(text),
            Self::Numbered(text, _) => length(&text.before) + text.digits + length(&text.after),
            Self::Letters { lengths, .. } => lengths.max,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "numbers",
            Self::DateTime { .. } => "dates",
            _ => "texts",
        }
    }

    fn check(&self, kind: ColumnType) -> Result<(), ColumnError> {
        let fits = match self {
            Self::Number(_) => kind.is_number(),
            Self::DateTime { .. } => kind == ColumnType::Datetime,
            _ => kind.characters().is_some(),
        };
        if !fits {
            let values = self.kind();
            return Err(ColumnError::Type { kind, values });
        }
        let length = self.longest();
        if kind.characters().is_some_and(|most| most < length) {
            return Err(ColumnError::Length { kind, length });
        }
        let texts = match self {
            Self::Constant(text) | Self::Digits(text) => [text.as_str(), ""],
            Self::Numbered(text, _) => [text.before.as_str(), text.after.as_str()],
            _ => ["", ""],
        };
        texts.into_iter().try_for_each(check_characters)
    }
}

/// No value of a row is escaped.
fn check_characters(text: &str) -> Result<(), ColumnError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_.,:;/+#".contains(c);
    if text.chars().all(plain) {
        return Ok(());
    }
    Err(ColumnError::Characters(text.to_owned()))
}

impl Column {
    /// Bytes of a value at most.
    pub fn value_bytes(&self) -> u64 {
        match self.kind {
            ColumnType::Number | ColumnType::Integer => 4,
            ColumnType::Bigint | ColumnType::Datetime => 8,
            ColumnType::Char(_) | ColumnType::Varchar(_) => self.value.longest().into(),
        }
    }
}

impl TryFrom<WrittenColumn> for Column {
    type Error = ColumnError;

    fn try_from(written: WrittenColumn) -> Result<Self, ColumnError> {
        let unclear = || ColumnError::Unclear(written.name.clone());
        let number = match (written.value, written.from) {
            (Some(expr), None) if written.distribution.is_none() => {
                Some(NumberRule::Computed(expr))
            }
            (None, Some(range)) => Some(NumberRule::Drawn {
                range,
                distribution: written.distribution.unwrap_or(Distribution::Uniform),
            }),
            (None, None) if written.distribution.is_none() => None,
            _ => return Err(unclear()),
        };
        if written.random.is_some() && written.letters.is_none() {
            return Err(unclear());
        }
        let value = match (
            number,
            written.text,
            written.since,
            written.digits,
            written.letters,
        ) {
            (Some(number), None, None, None, None) => ColumnValue::Number(number),
            (Some(seconds), None, Some(since), None, None) => {
                ColumnValue::DateTime { since, seconds }
            }
            (number, Some(text), None, None, None) => numbered(text, number)?,
            (None, None, None, Some(digits), None) => ColumnValue::Digits(digits),
            (None, None, None, None, Some(lengths)) => ColumnValue::Letters {
                lengths,
                random: written.random.unwrap_or(Thousandths(1000)),
            },
            _ => return Err(unclear()),
        };
        value.check(written.kind)?;
        if let Some(default) = &written.default {
            check_characters(default)?;
        }
        Ok(Self {
            name: written.name,
            kind: written.kind,
            default: written.default,
            value,
        })
    }
}

fn numbered(text: String, number: Option<NumberRule>) -> Result<ColumnValue, ColumnError> {
    match (text.parse(), number) {
        (Ok(place), Some(number)) => Ok(ColumnValue::Numbered(place, number)),
        (Err(_), None) => Ok(ColumnValue::Constant(text)),
        _ => Err(ColumnError::Place { text }),
    }
}

impl FromStr for NumberedText {
    type Err = NumberedTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let place = || -> Option<Self> {
            let (before, rest) = text.split_once("{number:")?;
            let (digits, after) = rest.split_once('}')?;
            let digits = digits.parse().ok();
            Some(Self {
                before: before.to_owned(),
                digits: digits.filter(|digits| (1..=19).contains(digits))?,
                after: after.to_owned(),
            })
        };
        place().ok_or_else(|| NumberedTextError(text.to_owned()))
    }
}

impl fmt::Display for NumberedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            before,
            digits,
            after,
        } = self;
        write!(f, "{before}{{number:{digits}}}{after}")
    }
}

written_as_text!(NumberedText, NumberedTextError);

impl From<Column> for WrittenColumn {
    fn from(column: Column) -> Self {
        let mut written = Self {
            name: column.name,
            kind: column.kind,
            default: column.default,
            value: None,
            from: None,
            distribution: None,
            text: None,
            since: None,
            digits: None,
            letters: None,
            random: None,
        };
        let number = match column.value {
            ColumnValue::Number(number) => Some(number),
            ColumnValue::DateTime { since, seconds } => {
                written.since = Some(since);
                Some(seconds)
            }
            ColumnValue::Numbered(text, number) => {
                written.text = Some(text.to_string());
                Some(number)
            }
            ColumnValue::Constant(text) => {
                written.text = Some(text);
                None
            }
            ColumnValue::Digits(digits) => {
                written.digits = Some(digits);
                None
            }
            ColumnValue::Letters { lengths, random } => {
                written.letters = Some(lengths);
                written.random = Some(random);
                None
            }
        };
        match number {
            Some(NumberRule::Computed(expr)) => written.value = Some(expr),
            Some(NumberRule::Drawn {
                range,
                distribution,
            }) => {
                written.from = Some(range);
                written.distribution = Some(distribution);
            }
            None => {}
        }
        written
    }
}

impl FromStr for Lengths {
    type Err = LengthsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || LengthsError(text.to_owned());
        let number = |part: &str| part.trim().parse().map_err(|_| error());
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let (min, max) = (number(min)?, number(max)?);
        if min > max {
            return Err(error());
        }
        Ok(Self { min, max })
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            write!(f, "{}", self.min)
        } else {
            write!(f, "{}..{}", self.min, self.max)
        }
    }
}

written_as_text!(Lengths, LengthsError);

#[cfg(test)]
mod tests {
    use super::*;

    fn column(json: &str) -> Result<Column, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn types_are_words() {
        for word in [
            "number",
            "integer",
            "bigint",
            "char(120)",
            "varchar(4000)",
            "datetime",
        ] {
            let kind: ColumnType = word.parse().unwrap();
            assert_eq!(kind.to_string(), word);
        }
        for bad in [
            "int",
            "char",
            "char(0)",
            "char(256)",
            "varchar(4001)",
            "varchar(1",
            "",
        ] {
            assert!(bad.parse::<ColumnType>().is_err(), "{bad}");
        }
    }

    #[test]
    fn columns_are_written_as_they_are_read() {
        for json in [
            r#"{"name":"a","type":"number","value":"row"}"#,
            r#"{"name":"a","type":"bigint","default":"0","from":"1..rows","distribution":"unique"}"#,
            r#"{"name":"a","type":"char(16)","from":"1..9","distribution":"uniform","text":"user{number:12}"}"#,
            r#"{"name":"a","type":"char(16)","text":""}"#,
            r##"{"name":"a","type":"char(16)","digits":"#-#"}"##,
            r#"{"name":"a","type":"varchar(20)","letters":"10..20","random":0.5}"#,
            r#"{"name":"a","type":"datetime","value":"row","since":"2024-01-01 00:00:00"}"#,
        ] {
            let column = column(json).unwrap();
            assert_eq!(serde_json::to_string(&column).unwrap(), json);
        }
    }

    #[test]
    fn values_that_a_type_can_not_hold_are_refused() {
        for (json, reason) in [
            (r#"{"name":"a","type":"number"}"#, "no clear rule"),
            (
                r#"{"name":"a","type":"number","value":"1","digits":"x"}"#,
                "no clear rule",
            ),
            (
                r#"{"name":"a","type":"number","digits":"x"}"#,
                "a number column can't hold texts",
            ),
            (
                r#"{"name":"a","type":"char(3)","value":"1"}"#,
                "a char(3) column can't hold numbers",
            ),
            (
                r#"{"name":"a","type":"char(3)","text":"four"}"#,
                "can't hold 4 characters",
            ),
            (
                r#"{"name":"a","type":"char(3)","text":"it's"}"#,
                "can't hold 4 characters",
            ),
            (
                r#"{"name":"a","type":"char(4)","text":"it's"}"#,
                "has other characters",
            ),
            (
                r#"{"name":"a","type":"char(9)","text":"x","value":"row"}"#,
                "do not go together",
            ),
        ] {
            let error = column(json).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
