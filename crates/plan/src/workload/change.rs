//! Effect of each changed row on its table: `change.rows = 1`, `change.k = 1`.

use std::collections::BTreeMap;

use prony_model::{Change, Schema};

use crate::fields::{Located, Value};
use crate::invalid::{Problem, Read};
use crate::suggest;

/// Most that a row can add to a column.
const SUM_MAX: i64 = 1_000_000;

/// Reads `change` of a statement on tables of `schema`.
pub(super) fn read(value: Value<'_>, schema: Schema) -> Read<Change> {
    let mut rows = 0;
    let mut sums = BTreeMap::new();
    let mut outcome = Ok(());
    for (name, value) in value.table("the change")?.entries() {
        if name.value == "rows" {
            match value.integer(-1..=1) {
                Ok(number) => rows = number.value,
                Err(reported) => outcome = Err(reported),
            }
            continue;
        }
        match read_sum(&name, value, schema) {
            Ok(sum) => {
                sums.insert(name.value.to_owned(), sum);
            }
            Err(reported) => outcome = Err(reported),
        }
    }
    outcome.map(|()| Change { rows, sums })
}

fn read_sum(name: &Located<&str>, value: Value<'_>, schema: Schema) -> Read<i64> {
    let document = value.document();
    let (numbers, texts) = (schema.number_columns(), schema.text_columns());
    if !numbers.contains(&name.value) && !texts.contains(&name.value) {
        let known: Vec<_> = ["rows"]
            .iter()
            .chain(&numbers)
            .chain(&texts)
            .copied()
            .collect();
        return Problem::new(format!(
            "tables of {} have no column `{}`",
            schema.name(),
            name.value
        ))
        .at(&name.span, "can't be counted")
        .help(suggest::help(name.value, "keys", &known))
        .fail(document);
    }
    let sum = value.integer(-SUM_MAX..=SUM_MAX)?;
    if sum.value != 0 && texts.contains(&name.value) {
        return Problem::new(format!("`{}` is a column of text", name.value))
            .at(&sum.span, "has no sum")
            .help("only 0 is possible: the column keeps its values")
            .fail(document);
    }
    Ok(sum.value)
}
