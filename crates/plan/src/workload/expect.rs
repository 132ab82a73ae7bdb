//! What a right answer looks like: `expect.rows = "range + 1"`, `expect.affected = "0..1"`.

use prony_model::{CountRange, Expect, ExprRange};

use super::param::{Scope, Uses, read_expr};
use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};

/// Reads `expect`: the counts that are known, and the rows where parameters decide them.
pub(super) fn read(value: Value<'_>, constants: &[&str]) -> Read<(Expect, Option<ExprRange>)> {
    let document = value.document();
    let mut fields = value.table("the expected answer")?;
    let rows = fields.optional("rows", |value| {
        let text = value.text_or_integer()?;
        match text.value.parse() {
            Ok(count) => Ok((Some(count), None)),
            Err(_) if text.value.contains("..") => {
                read_count(document, &text).map(|count| (Some(count), None))
            }
            Err(_) => {
                let scope = Scope {
                    constants,
                    earlier: Vec::new(),
                };
                read_expr(&text, document, &scope, Uses::Constants).map(|expr| {
                    let range = ExprRange {
                        low: expr.clone(),
                        high: expr,
                    };
                    (None, Some(range))
                })
            }
        }
    });
    let affected = fields.optional("affected", |value| {
        read_count(document, &value.text_or_integer()?)
    });
    fields.finish()?;
    let (rows, expect_rows) = rows?.unwrap_or_default();
    let expect = Expect {
        rows,
        affected: affected?,
    };
    Ok((expect, expect_rows))
}

fn read_count(document: &Document<'_>, text: &Located<String>) -> Read<CountRange> {
    text.value.parse().map_err(|error| {
        document.report(
            Problem::new(format!("{error}"))
                .at(&text.span, "can't be compared with an answer")
                .help("leave the key out where any count is right"),
        )
    })
}
