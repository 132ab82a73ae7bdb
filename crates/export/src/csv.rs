//! Tables as CSV: RFC 4180 with line ends of Unix, a header, null as an empty field.
//!
//! An empty text is written as `""`, so that readers that care can tell it from null.

use std::io::{self, Write};

use prony_report::tidy::{Column, Value};

/// Writes the header.
pub(crate) fn header(columns: &[Column], out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    writeln!(out, "{}", names.join(","))
}

/// Writes one row.
pub(crate) fn row(values: &[Value<'_>], out: &mut dyn Write) -> io::Result<()> {
    for (position, value) in values.iter().enumerate() {
        if position > 0 {
            out.write_all(b",")?;
        }
        match value {
            Value::Null => Ok(()),
            Value::Text(text) => out.write_all(quoted(text).as_bytes()),
            Value::Integer(number) => write!(out, "{number}"),
            Value::Number(number) => write!(out, "{number}"),
            Value::Flag(flag) => write!(out, "{flag}"),
            Value::Time(time) => write!(out, "{time:.3}"),
        }?;
    }
    out.write_all(b"\n")
}

/// A text as a field, quoted if it must be.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn written(values: &[Value<'_>]) -> String {
        let mut out = Vec::new();
        row(values, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn null_is_empty_and_an_empty_text_is_quoted() {
        let values = [Value::Null, Value::Text("".into()), Value::Integer(-1)];
        assert_eq!(written(&values), ",\"\",-1\n");
    }

    #[test]
    fn texts_with_separators_are_quoted() {
        let text = |text: &'static str| Value::Text(text.into());
        let values = [text("a,b"), text("say \"no\""), text("two\nlines")];
        assert_eq!(
            written(&values),
            "\"a,b\",\"say \"\"no\"\"\",\"two\nlines\"\n"
        );
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let third = 1.0 / 3.0;
        let shown = written(&[Value::Number(third), Value::Flag(true)]);
        let number = shown.trim_end().strip_suffix(",true").unwrap();
        assert_eq!(number.parse(), Ok(third));
        let time = Value::Time(Timestamp::from_millisecond(1_500).unwrap());
        assert_eq!(written(&[time]), "1970-01-01T00:00:01.500Z\n");
    }
}
