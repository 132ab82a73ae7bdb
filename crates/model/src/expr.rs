//! Sums and products of names and whole numbers, such as `low + range - 1` or `rows / 2`: all the
//! arithmetic that workload files need.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::written_as_text;

/// A sum of products of whole numbers and names. A quotient is cut off to a whole number.
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

/// Factors, computed from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    first: Factor,
    rest: Vec<(Operator, Factor)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Times,
    Over,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Factor {
    Number(i64),
    Name(String),
}

/// The values of names.
pub trait Scope {
    /// The value of `name`, or `None` when it is not defined.
    fn value(&self, name: &str) -> Option<i64>;
}

impl<F: Fn(&str) -> Option<i64>> Scope for F {
    fn value(&self, name: &str) -> Option<i64> {
        self(name)
    }
}

/// The reason why an expression can't be read or computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    /// Not made of names and whole numbers.
    #[error(
        "`{0}` is not made of names and whole numbers with + - * / between them, such as \
         `low + range - 1`"
    )]
    Syntax(String),
    /// A name without a value.
    #[error("`{0}` is not defined")]
    Undefined(String),
    /// A divisor is 0.
    #[error("`{0}` divides by 0")]
    DividesByZero(String),
    /// The result, or a part of it, does not fit 64 bits.
    #[error("`{0}` is out of range")]
    Overflow(String),
}

impl Expr {
    /// The names used, in order of appearance.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().flat_map(|(_, term)| term.names())
    }

    /// The first of the names that `varies` for which the expression is not a sum of constant
    /// multiples: one in a quotient, or one multiplied with another that varies.
    pub fn nonlinear(&self, varies: impl Fn(&str) -> bool) -> Option<&str> {
        self.terms.iter().find_map(|(_, term)| {
            let mut varying = term.names().filter(|name| varies(name));
            let first = varying.next()?;
            let divides = term.rest.iter().any(|(op, _)| *op == Operator::Over);
            (divides || varying.next().is_some()).then_some(first)
        })
    }

    /// Computes the sum.
    ///
    /// # Errors
    /// When a name has no value in `scope`, a divisor is 0, or a part of the sum does not fit 64
    /// bits.
    pub fn eval(&self, scope: &impl Scope) -> Result<i64, ExprError> {
        self.terms.iter().try_fold(0_i64, |sum, (sign, term)| {
            let value = self.eval_term(term, scope)?;
            match sign {
                Sign::Plus => sum.checked_add(value),
                Sign::Minus => sum.checked_sub(value),
            }
            .ok_or_else(|| ExprError::Overflow(self.to_string()))
        })
    }

    /// Bounds of the sum where a name goes from its value in `one` to that in `other`, and stands at
    /// most once in each term: every term then lies between its values at both ends. Terms that
    /// cancel each other make the bounds wider than the sum is.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn bounds(&self, one: &impl Scope, other: &impl Scope) -> Result<(i64, i64), ExprError> {
        let overflow = || ExprError::Overflow(self.to_string());
        let mut bounds = (0_i64, 0_i64);
        for (sign, term) in &self.terms {
            let (a, b) = (self.eval_term(term, one)?, self.eval_term(term, other)?);
            let (low, high) = match sign {
                Sign::Plus => (a.min(b), a.max(b)),
                Sign::Minus => (-a.max(b), -a.min(b)),
            };
            bounds.0 = bounds.0.checked_add(low).ok_or_else(overflow)?;
            bounds.1 = bounds.1.checked_add(high).ok_or_else(overflow)?;
        }
        Ok(bounds)
    }

    fn eval_term(&self, term: &Term, scope: &impl Scope) -> Result<i64, ExprError> {
        let first = term.first.eval(scope)?;
        term.rest.iter().try_fold(first, |product, (op, factor)| {
            let value = factor.eval(scope)?;
            match op {
                Operator::Times => product.checked_mul(value),
                Operator::Over if value == 0 => {
                    return Err(ExprError::DividesByZero(self.to_string()));
                }
                Operator::Over => product.checked_div(value),
            }
            .ok_or_else(|| ExprError::Overflow(self.to_string()))
        })
    }
}

impl Term {
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.first)
            .chain(self.rest.iter().map(|(_, factor)| factor))
            .filter_map(|factor| match factor {
                Factor::Name(name) => Some(name.as_str()),
                Factor::Number(_) => None,
            })
    }
}

impl Factor {
    fn eval(&self, scope: &impl Scope) -> Result<i64, ExprError> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Name(name) => scope
                .value(name)
                .ok_or_else(|| ExprError::Undefined(name.clone())),
        }
    }
}

impl From<u64> for Expr {
    /// The number itself; one that does not fit 63 bits is cut to the greatest that does.
    fn from(number: u64) -> Self {
        let first = Factor::Number(i64::try_from(number).unwrap_or(i64::MAX));
        Self {
            terms: vec![(
                Sign::Plus,
                Term {
                    first,
                    rest: Vec::new(),
                },
            )],
        }
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
            terms.push((sign, parse_term(&rest[..end]).ok_or_else(error)?));
            if end == rest.len() {
                return Ok(Self { terms });
            }
            sign = if rest.as_bytes()[end] == b'+' {
                Sign::Plus
            } else {
                Sign::Minus
            };
            rest = &rest[end + 1..];
        }
    }
}

fn parse_term(text: &str) -> Option<Term> {
    let end = text.find(['*', '/']).unwrap_or(text.len());
    let first = parse_factor(text[..end].trim())?;
    let mut rest = Vec::new();
    let mut at = end;
    while at < text.len() {
        let op = if text.as_bytes()[at] == b'*' {
            Operator::Times
        } else {
            Operator::Over
        };
        let start = at + 1;
        at = text[start..]
            .find(['*', '/'])
            .map_or(text.len(), |offset| start + offset);
        rest.push((op, parse_factor(text[start..at].trim())?));
    }
    Some(Term { first, rest })
}

fn parse_factor(word: &str) -> Option<Factor> {
    let first = word.chars().next()?;
    if first.is_ascii_digit() {
        return word.replace('_', "").parse().ok().map(Factor::Number);
    }
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| Factor::Name(word.to_owned()))
}

written_as_text!(Expr, ExprError);

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (sign, term)) in self.terms.iter().enumerate() {
            match (index, sign) {
                (0, Sign::Plus) => {}
                (_, Sign::Plus) => f.write_str(" + ")?,
                (_, Sign::Minus) => f.write_str(" - ")?,
            }
            term.first.fmt(f)?;
            for (op, factor) in &term.rest {
                let op = match op {
                    Operator::Times => '*',
                    Operator::Over => '/',
                };
                write!(f, " {op} {factor}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
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
        for large in ["huge + 1", "huge * 2"] {
            assert!(matches!(eval(large), Err(ExprError::Overflow(_))));
        }
    }

    #[test]
    fn products_come_before_sums() {
        assert_eq!(eval("low + range * 2"), Ok(210));
        assert_eq!(eval("2*range-low"), Ok(190));
        assert_eq!(eval("range / 3 * 3 + 1"), Ok(100));
        assert_eq!(eval("low - range / 3"), Ok(-23));
        assert_eq!(
            eval("range / 0"),
            Err(ExprError::DividesByZero("range / 0".into()))
        );
    }

    #[test]
    fn bounds_hold_every_value() {
        let at = |low: i64| move |name: &str| (name == "low").then_some(low);
        for (text, bounds) in [
            ("low / 10 + 1", (1, 10)),
            ("low - low / 10 * 10", (-90, 99)),
            ("5 - low * 2", (-193, 5)),
        ] {
            let expr: Expr = text.parse().unwrap();
            assert_eq!(expr.bounds(&at(0), &at(99)), Ok(bounds), "{text}");
        }
    }

    #[test]
    fn tells_what_is_not_linear() {
        let nonlinear = |text: &str| {
            let expr: Expr = text.parse().unwrap();
            let found = expr.nonlinear(|name| name == "low" || name == "high");
            found.map(str::to_owned)
        };
        for linear in ["low + range * 2", "2 * low - high * range", "range / rows"] {
            assert_eq!(nonlinear(linear), None, "{linear}");
        }
        for (text, name) in [
            ("range + low / 2", "low"),
            ("rows / high", "high"),
            ("low * high", "low"),
            ("high * high", "high"),
        ] {
            assert_eq!(nonlinear(text).as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for bad in [
            "",
            "+",
            "low +",
            "- 1",
            "2 *",
            "/ 2",
            "2 ** low",
            "(low)",
            "low range",
            "1x",
            "a.b",
        ] {
            assert!(matches!(eval(bad), Err(ExprError::Syntax(_))), "{bad}");
        }
    }

    #[test]
    fn display_reads_back() {
        let expr: Expr = "low+range*2 -rows/ 3".parse().unwrap();
        assert_eq!(expr.to_string(), "low + range * 2 - rows / 3");
        assert_eq!(expr.to_string().parse(), Ok(expr));
    }
}
