//! Counts of a right answer: `expect.rows = "range + 1"`, `expect.affected = "0..1"`.

use prony_model::{CountRange, Expect, ExprRange};

use super::param::{Scope, Uses, read_expr};
use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};

/// Notation of a count that is left open.
const ANY: &str = "any";

/// The counts of a right answer.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// Those that are known, and those left open.
    pub(super) counts: Expect,
    /// Rows returned, where parameters decide their number.
    pub(super) rows: Option<ExprRange>,
    /// Rows changed, where parameters decide their number.
    pub(super) affected: Option<ExprRange>,
}

/// One count, as it is written.
#[derive(Debug, Default)]
enum Count {
    #[default]
    Any,
    Known(CountRange),
    Computed(ExprRange),
}

/// Reads `expect`.
pub(super) fn read(value: Value<'_>, constants: &[&str]) -> Read<Expected> {
    let mut fields = value.table("the expected answer")?;
    let rows = fields.optional("rows", |value| read_count(value, constants));
    let affected = fields.optional("affected", |value| read_count(value, constants));
    fields.finish()?;
    let (counted_rows, rows) = rows?.unwrap_or_default().parts();
    let (counted_affected, affected) = affected?.unwrap_or_default().parts();
    Ok(Expected {
        counts: Expect {
            rows: counted_rows,
            affected: counted_affected,
        },
        rows,
        affected,
    })
}

impl Count {
    fn parts(self) -> (Option<CountRange>, Option<ExprRange>) {
        match self {
            Self::Any => (None, None),
            Self::Known(count) => (Some(count), None),
            Self::Computed(range) => (None, Some(range)),
        }
    }
}

fn read_count(value: Value<'_>, constants: &[&str]) -> Read<Count> {
    let document = value.document();
    let text = value.text_or_integer()?;
    if text.value.trim() == ANY {
        return Ok(Count::Any);
    }
    let (low, high) = text
        .value
        .split_once("..")
        .unwrap_or((&text.value, &text.value));
    let is_number = |side: &str| side.trim().parse::<u64>().is_ok();
    let is_half = |low: &str, high: &str| low.trim().is_empty() || high.trim().is_empty();
    match text.value.parse() {
        Ok(count) => Ok(Count::Known(count)),
        Err(error) if is_half(low, high) || is_number(low) && is_number(high) => {
            Problem::new(format!("{error}"))
                .at(&text.span, "can't be compared with an answer")
                .help("the lower count comes first; \"any\" stands for every count")
                .fail(document)
        }
        Err(_) => {
            let side = |part| read_side(part, &text, document, constants);
            let (low, high) = if low == high {
                let expr = side(low)?;
                (expr.clone(), expr)
            } else {
                let (low, high) = (side(low), side(high));
                (low?, high?)
            };
            Ok(Count::Computed(ExprRange { low, high }))
        }
    }
}

fn read_side(
    part: &str,
    text: &Located<String>,
    document: &Document<'_>,
    constants: &[&str],
) -> Read<prony_model::Expr> {
    let part = Located {
        value: part.trim().to_owned(),
        span: text.span.clone(),
    };
    let scope = Scope {
        constants,
        earlier: Vec::new(),
    };
    read_expr(&part, document, &scope, Uses::Constants)
}
