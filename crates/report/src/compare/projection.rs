//! Projections: the keys of rows, columns and tables, and their order.

use std::fmt;

use crate::compare::key::Key;
use crate::compare::syntax::{Reader, SyntaxError, written};

/// Keys with the order of their values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Projection {
    pub(crate) keys: Vec<(Key, Order)>,
}

/// The order of the values of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they come in the runs.
    Given,
    /// By the numbers in them, so that 5.7 stands before 5.10.
    Number,
    /// These, in this order, and no others.
    Chosen(Vec<String>),
}

impl Projection {
    /// Reads keys with commas between them: `key`, `key@num`, `key@(a b)`.
    ///
    /// # Errors
    /// When they can't be understood; the error points at the place.
    pub(crate) fn parse(option: &'static str, text: &str) -> Result<Self, SyntaxError> {
        let mut reader = Reader::new(option, text);
        let mut keys: Vec<(Key, Order)> = Vec::new();
        while reader.skip(&[',']) {
            let at = reader.at();
            let key = reader.key(&[',', '@', '(', ')'])?;
            if keys.iter().any(|(other, _)| *other == key) {
                return Err(reader.error(at, format!("`{key}` is here twice")));
            }
            keys.push((key, order(&mut reader)?));
        }
        Ok(Self { keys })
    }
}

fn order(reader: &mut Reader<'_>) -> Result<Order, SyntaxError> {
    if !reader.take('@') {
        return Ok(Order::Given);
    }
    let at = reader.at();
    if !reader.take('(') {
        return match reader.word(&[',', '(', ')'], "an order")?.as_str() {
            "num" => Ok(Order::Number),
            other => Err(reader.error(
                at,
                format!("there is no order `{other}`; choose num, or values in parentheses"),
            )),
        };
    }
    let mut values = Vec::new();
    while reader.skip(&[]) {
        if reader.take(')') {
            return Ok(Order::Chosen(values));
        }
        values.push(reader.word(&['(', ')'], "a value")?);
    }
    Err(reader.error(at, "this parenthesis does not end; add )"))
}

/// The numbers in a text, for sorting.
pub(crate) fn numbers(text: &str) -> Vec<u64> {
    let parts = text.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, order)) in self.keys.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}", written(&key.to_string()))?;
            match order {
                Order::Given => {}
                Order::Number => f.write_str("@num")?,
                Order::Chosen(values) => {
                    let values: Vec<String> = values.iter().map(|word| written(word)).collect();
                    write!(f, "@({})", values.join(" "))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            "",
            "step,clients",
            "version@num,target@(a \"b c\")",
            "config.binlog@()",
        ] {
            let projection = Projection::parse("--row", text).unwrap();
            assert_eq!(projection.to_string(), text);
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        let at = |text| Projection::parse("--row", text).unwrap_err().at;
        assert_eq!(at("step,size"), 5);
        assert_eq!(at("step,step"), 5);
        assert_eq!(at("step@size"), 5);
        assert_eq!(at("step@(a"), 5);
    }

    #[test]
    fn versions_sort_by_their_numbers() {
        assert!(numbers("mysql-5.7.44") < numbers("mysql-5.10.1"));
    }
}
