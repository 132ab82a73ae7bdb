//! Choices of cells by the value of a key.

use crate::analysis::Analysis;
use crate::error::ViewError;
use crate::views::cell::{self, CellId};
use crate::views::key::Key;

/// The values of a key that are wanted.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) key: Key,
    values: Vec<String>,
}

impl Choice {
    /// Reads `KEY:VALUE,VALUE`.
    ///
    /// # Errors
    /// If the key is unknown, or no cell of the run has one of the values.
    pub(crate) fn read(written: &str, analysis: &Analysis<'_>) -> Result<Self, ViewError> {
        let (key, values) = written.split_once(':').ok_or_else(|| ViewError::Choice {
            written: written.to_owned(),
        })?;
        let key = Key::read(key, analysis.plan)?;
        let mut known: Vec<String> = Vec::new();
        for cell in cell::all(analysis) {
            let value = key.value(analysis, cell);
            if !known.contains(&value) {
                known.push(value);
            }
        }
        let values: Vec<String> = values.split(',').map(str::to_owned).collect();
        let unknown = values
            .iter()
            .find(|wanted| !known.iter().any(|value| is_value(&key, value, wanted)));
        match unknown {
            Some(unknown) => Err(ViewError::Value {
                key: key.name(),
                written: unknown.clone(),
                known,
            }),
            None => Ok(Self { key, values }),
        }
    }

    /// Returns `true` if a cell has one of the values.
    pub(crate) fn holds(&self, analysis: &Analysis<'_>, cell: CellId) -> bool {
        let value = self.key.value(analysis, cell);
        let mut values = self.values.iter();
        values.any(|wanted| is_value(&self.key, &value, wanted))
    }
}

/// Returns `true` if `value` is the wanted one, begins as it does up to its `*`, or is a version of the
/// wanted series.
fn is_value(key: &Key, value: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => value.starts_with(start),
        None if *key == Key::Version => {
            let rest = value.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
        None => value == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_of_their_series() {
        assert!(is_value(&Key::Version, "5.6.24", "5.6"));
        assert!(is_value(&Key::Version, "5.6.24", "5.6.24"));
        assert!(!is_value(&Key::Version, "5.60.1", "5.6"));
        assert!(!is_value(&Key::Target, "5.6.24", "5.6"));
    }

    #[test]
    fn a_star_stands_for_any_end() {
        assert!(is_value(&Key::Step, "update-index", "update-*"));
        assert!(!is_value(&Key::Step, "point-query", "update-*"));
    }
}
