//! Columns of a schema, and the rules for their values.

use prony_model::{
    Column, ColumnError, ColumnType, ColumnValue, DateTime, Expr, ExprRange, Lengths, NumberRule,
    Thousandths, WrittenColumn,
};

use super::identifier;
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Problem, Read};
use crate::suggest;
use crate::workload::distribution;

/// True where the values follow each other as the rows do, from 1 on.
pub(super) fn is_key(column: &Column) -> bool {
    let is_row =
        |rule: &NumberRule| matches!(rule, NumberRule::Computed(expr) if expr.to_string() == "row");
    match &column.value {
        ColumnValue::Number(rule) | ColumnValue::Numbered(_, rule) => is_row(rule),
        _ => false,
    }
}

/// Reads a column, with the place of its name.
pub(super) fn read(mut fields: Fields<'_>) -> Read<Located<Column>> {
    let document = fields.document();
    let span = fields.span();
    let name = fields.required("name", identifier);
    let kind = fields.required("type", parsed::<ColumnType>);
    let default = fields.optional("default", Value::text_or_integer);
    let value = fields.optional("value", |value| {
        read_expr(&value, &["row", "rows_before", "rows", "tables"])
    });
    let from = fields.optional("from", read_range);
    let distribution = distribution::read(&mut fields);
    let text = fields.optional("text", Value::text);
    let since = fields.optional("since", parsed::<DateTime>);
    let digits = fields.optional("digits", Value::text);
    let letters = fields.optional("letters", parsed_or_number::<Lengths>);
    let random = fields.optional("random", read_share);
    fields.finish()?;

    let (name, kind, distribution) = (name?, kind?, distribution?);
    let from = from?;
    let is_drawn = from.is_some() || !distribution.is_empty();
    let distribution = is_drawn
        .then(|| distribution.finish(document))
        .transpose()?;
    let written = WrittenColumn {
        name: name.value.to_owned(),
        kind: kind.value,
        default: default?.map(|text| text.value),
        value: value?,
        from,
        distribution,
        text: text?.map(|text| text.value.to_owned()),
        since: since?.map(|since| since.value),
        digits: digits?.map(|digits| digits.value.to_owned()),
        letters: letters?.map(|letters| letters.value),
        random: random?,
    };
    match Column::try_from(written) {
        Ok(column) => Ok(Located {
            value: column,
            span: name.span,
        }),
        Err(error) => {
            let place = match error {
                ColumnError::Type { .. } | ColumnError::Length { .. } => &kind.span,
                _ => &span,
            };
            Problem::new(error.to_string())
                .at(place, "in this column")
                .help(help(&error))
                .fail(document)
        }
    }
}

fn help(error: &ColumnError) -> &'static str {
    match error {
        ColumnError::Unclear(_) => {
            "write one of: value = \"row\" for a computed number, from = \"1..rows\" for a drawn one, \
             either with text = \"user{number:12}\" or since = \"2024-01-01 00:00:00\" beside it, \
             digits = \"###-###\" for random digits, letters = \"10..20\" for letters, or text = \
             \"same\" for a text that is the same in all rows"
        }
        ColumnError::Place { .. } => {
            "the number goes to {number:12}, where 12 is its number of digits: write both, or neither"
        }
        ColumnError::Type { .. } => {
            "numbers go into number, integer or bigint; texts into char(n) or varchar(n); `since` into datetime"
        }
        ColumnError::Length { .. } => "make the column wider, or its values shorter",
        ColumnError::Characters(_) => "rows are sent without escaping: use other characters",
    }
}

/// A share, from 0 to 1.
pub(crate) fn read_share(value: Value<'_>) -> Read<Thousandths> {
    let share = value.thousandths(Thousandths(0)..=Thousandths(1000))?;
    Ok(share.value)
}

/// A text that a type of the model reads.
pub(crate) fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    value: Value<'_>,
) -> Read<Located<T>> {
    let document = value.document();
    read_text(document, value.text()?.map(str::to_owned))
}

/// The same of a text or a whole number.
pub(crate) fn parsed_or_number<T: std::str::FromStr<Err: std::fmt::Display>>(
    value: Value<'_>,
) -> Read<Located<T>> {
    let document = value.document();
    read_text(document, value.text_or_integer()?)
}

fn read_text<T: std::str::FromStr<Err: std::fmt::Display>>(
    document: &Document<'_>,
    text: Located<String>,
) -> Read<Located<T>> {
    match text.value.parse() {
        Ok(value) => Ok(Located {
            value,
            span: text.span,
        }),
        Err(error) => Problem::new(error.to_string())
            .at(&text.span, "can't be read")
            .fail(document),
    }
}

fn read_range(value: Value<'_>) -> Read<ExprRange> {
    let document = value.document();
    let text = value.text()?.map(str::to_owned);
    let range: Located<ExprRange> = read_text(document, text)?;
    for expr in [&range.value.low, &range.value.high] {
        let text = Located {
            value: expr,
            span: range.span.clone(),
        };
        check_expr(document, &text, &["rows", "tables"])?;
    }
    Ok(range.value)
}

pub(super) fn read_expr(value: &Value<'_>, names: &[&str]) -> Read<Expr> {
    let expr: Located<Expr> = parsed_or_number(value.clone())?;
    check_expr(value.document(), &expr.as_ref(), names)?;
    Ok(expr.value)
}

fn check_expr(document: &Document<'_>, expr: &Located<&Expr>, names: &[&str]) -> Read<()> {
    if let Some(name) = expr.value.names().find(|name| !names.contains(name)) {
        return Problem::new(format!("`{name}` is not defined"))
            .at(&document.within(&expr.span, name), "can't be used here")
            .help(suggest::help(name, "names at this place", names))
            .fail(document);
    }
    Ok(())
}
