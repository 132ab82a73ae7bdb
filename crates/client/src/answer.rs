//! Answers of a server.

/// The answer to a statement. Of several results, as procedures give them, it has the rows of all, and
/// everything else of the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Names of the columns; empty for a statement without rows.
    pub columns: Vec<String>,
    /// Rows of as many values as there are columns, `None` for NULL. What is not UTF-8 is
    /// replaced.
    pub rows: Vec<Vec<Option<String>>>,
    /// Rows changed, as the server reports them.
    pub affected: u64,
    /// The first automatic id of the statement, 0 when there is none.
    pub last_insert_id: u64,
    /// Number of warnings.
    pub warnings: u16,
}

impl Answer {
    /// The first column of the only row. `None` when there is not exactly one row, or it is NULL.
    pub fn single(&self) -> Option<&str> {
        match self.rows.as_slice() {
            [row] => row.first()?.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_wants_one_row() {
        let answer = |rows: &[&[Option<&str>]]| Answer {
            rows: rows
                .iter()
                .map(|row| row.iter().map(|v| v.map(str::to_owned)).collect())
                .collect(),
            ..Answer::default()
        };
        assert_eq!(answer(&[&[Some("5"), None]]).single(), Some("5"));
        assert_eq!(answer(&[&[None]]).single(), None);
        assert_eq!(answer(&[]).single(), None);
        assert_eq!(answer(&[&[Some("5")], &[Some("6")]]).single(), None);
    }
}
