//! Sums of names and whole numbers, such as `low + range - 1`: all the arithmetic that workload
//! files need.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A sum of terms, each a whole number or a name, added or subtracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expr {
    terms: Vec<(Sign, Term)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    Number(i64),
    Name(String),
}

/// Where names get their values.
pub trait Scope {
    /// The value of `name`, or `None` when it is not defined.
    fn value(&self, name: &str) -> Option<i64>;
}

impl<F: Fn(&str) -> Option<i64>> Scope for F {
    fn value(&self, name: &str) -> Option<i64> {
        self(name)
    }
}

/// Why an expression can't be read or computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    /// Not a sum of names and whole numbers.
    #[error("`{0}` is not a sum of names and whole numbers such as `low + range - 1`")]
    Syntax(String),
    /// A name without a value.
    #[error("`{0}` is not defined")]
    Undefined(String),
    /// The result does not fit 64 bits.
    #[error("`{0}` is out of range")]
    Overflow(String),
}

impl Expr {
    /// The names used, in order of appearance.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|(_, term)| match term {
            Term::Name(name) => Some(name.as_str()),
            Term::Number(_) => None,
        })
    }

    /// Computes the sum.
    ///
    /// # Errors
    /// When a name has no value in `scope`, or when the sum does not fit 64 bits.
    pub fn eval(&self, scope: &impl Scope) -> Result<i64, ExprError> {
        self.terms.iter().try_fold(0_i64, |sum, (sign, term)| {
            let value = match term {
                Term::Number(number) => *number,
                Term::Name(name) => scope
                    .value(name)
                    .ok_or_else(|| ExprError::Undefined(name.clone()))?,
            };
            match sign {
                Sign::Plus => sum.checked_add(value),
                Sign::Minus => sum.checked_sub(value),
            }
            .ok_or_else(|| ExprError::Overflow(self.to_string()))
        })
    }
}

impl FromStr for Expr {
    type Err = ExprError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ExprError::Syntax(text.to_owned());
        let mut terms = Vec::new();
        let mut rest = text.trim();
        let mut sign = Sign::Plus;
        loop {
            let end = rest.find(['+', '-']).unwrap_or(rest.len());
            terms.push((sign, parse_term(rest[..end].trim()).ok_or_else(error)?));
            if end == rest.len() {
                return Ok(Self { terms });
            }
            sign = if rest.as_bytes()[end] == b'+' {
                Sign::Plus
            } else {
                Sign::Minus
            };
            rest = rest[end + 1..].trim_start();
        }
    }
}

fn parse_term(word: &str) -> Option<Term> {
    let first = word.chars().next()?;
    if first.is_ascii_digit() {
        return word.replace('_', "").parse().ok().map(Term::Number);
    }
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| Term::Name(word.to_owned()))
}

impl TryFrom<String> for Expr {
    type Error = ExprError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Expr> for String {
    fn from(expr: Expr) -> Self {
        expr.to_string()
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (sign, term)) in self.terms.iter().enumerate() {
            match (index, sign) {
                (0, Sign::Plus) => {}
                (_, Sign::Plus) => f.write_str(" + ")?,
                (_, Sign::Minus) => f.write_str(" - ")?,
            }
            match term {
                Term::Number(number) => write!(f, "{number}")?,
                Term::Name(name) => f.write_str(name)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> Result<i64, ExprError> {
        let scope = |name: &str| match name {
            "low" => Some(10),
            "range" => Some(100),
            "huge" => Some(i64::MAX),
            _ => None,
        };
        text.parse::<Expr>()?.eval(&scope)
    }

    #[test]
    fn computes_sums() {
        assert_eq!(eval("low + range - 1"), Ok(109));
        assert_eq!(eval("low+range-1"), Ok(109));
        assert_eq!(eval("  1_000 "), Ok(1000));
        assert_eq!(eval("rows"), Err(ExprError::Undefined("rows".into())));
        assert!(matches!(eval("huge + 1"), Err(ExprError::Overflow(_))));
    }

    #[test]
    fn refuses_what_is_not_a_sum() {
        for bad in ["", "+", "low +", "- 1", "2 * low", "low range", "1x", "a.b"] {
            assert!(matches!(eval(bad), Err(ExprError::Syntax(_))), "{bad}");
        }
    }

    #[test]
    fn display_reads_back() {
        let expr: Expr = "low+range -1".parse().unwrap();
        assert_eq!(expr.to_string(), "low + range - 1");
        assert_eq!(expr.to_string().parse(), Ok(expr));
    }
}
