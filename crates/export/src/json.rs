//! Tables as JSON lines: one object for each row, with every column in its order.

use std::io::{self, Write};

use prony_report::tidy::{Column, Value};
use serde_json::Number;

/// Writes one row.
pub(crate) fn row(columns: &[Column], values: &[Value<'_>], out: &mut dyn Write) -> io::Result<()> {
    let mut before = b'{';
    for (column, value) in columns.iter().zip(values) {
        out.write_all(&[before])?;
        before = b',';
        write!(out, "\"{}\":", column.name)?;
        match value {
            Value::Null => out.write_all(b"null")?,
            Value::Text(text) => serde_json::to_writer(&mut *out, text)?,
            Value::Integer(number) => write!(out, "{number}")?,
            Value::Number(number) => match Number::from_f64(*number) {
                Some(number) => write!(out, "{number}")?,
                None => out.write_all(b"null")?,
            },
            Value::Flag(flag) => write!(out, "{flag}")?,
            Value::Time(time) => write!(out, "\"{time:.3}\"")?,
        }
    }
    out.write_all(b"}\n")
}

#[cfg(test)]
mod tests {
    use prony_report::tidy::{Table, Value};

    use super::*;

    #[test]
    fn a_row_is_an_object_with_every_column() {
        let columns = &Table::Measurements.columns()[..4];
        let values = [
            Value::Text("a \"run\"".into()),
            Value::Null,
            Value::Number(0.5),
            Value::Flag(false),
        ];
        let mut out = Vec::new();
        row(columns, &values, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"run\":\"a \\\"run\\\"\",\"target\":null,\"step\":0.5,\"clients\":false}\n"
        );
    }
}
