//! Ranges whose ends are expressions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::written_as_text;
use crate::{Expr, ExprError};

/// A range of counts, each end an expression; one expression stands for both ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExprRange {
    /// Lowest count.
    pub low: Expr,
    /// Highest count, included.
    pub high: Expr,
}

impl FromStr for ExprRange {
    type Err = ExprError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        Ok(Self {
            low: low.parse()?,
            high: high.parse()?,
        })
    }
}

written_as_text!(ExprRange, ExprError);

impl fmt::Display for ExprRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            self.low.fmt(f)
        } else {
            write!(f, "{}..{}", self.low, self.high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_expressions() {
        for text in ["range + 1", "1..range", "0..range - 1"] {
            let range: ExprRange = text.parse().unwrap();
            assert_eq!(range.to_string(), text);
        }
        assert!("1..".parse::<ExprRange>().is_err());
    }
}
