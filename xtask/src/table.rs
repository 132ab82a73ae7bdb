//! Tables in Markdown, aligned so that they can be read as they are.

use std::fmt::Write as _;

/// A table whose columns but the first few are numbers.
pub(crate) struct Table {
    /// Columns that are words, at the left.
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings, of which the first `words` stand over words.
    pub(crate) fn new(words: usize, headings: &[&str]) -> Self {
        Self {
            words,
            rows: vec![
                headings
                    .iter()
                    .map(|heading| (*heading).to_owned())
                    .collect(),
            ],
        }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub(crate) fn markdown(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells
                    .map(|cell| cell.chars().count())
                    .max()
                    .unwrap_or(0)
                    .max(3)
            })
            .collect();
        let mut out = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                // Writing to a String cannot fail.
                let _ = if column < self.words {
                    write!(out, "| {cell:<width$} ")
                } else {
                    write!(out, "| {cell:>width$} ")
                };
            }
            out.push_str("|\n");
            if index == 0 {
                self.push_rule(&mut out, &widths);
            }
        }
        out
    }

    fn push_rule(&self, out: &mut String, widths: &[usize]) {
        for (column, width) in widths.iter().enumerate() {
            out.push_str("|-");
            out.push_str(&"-".repeat(*width));
            out.push(if column < self.words { '-' } else { ':' });
        }
        out.push_str("|\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let mut table = Table::new(1, &["who", "µs"]);
        table.push(vec!["sysbench".into(), "10.5".into()]);
        table.push(vec!["bare".into()]);
        let expected = "\
| who      |   µs |
|----------|-----:|
| sysbench | 10.5 |
| bare     |      |
";
        assert_eq!(table.markdown(), expected);
    }
}
