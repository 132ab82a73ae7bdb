//! Tables in Markdown, aligned for readers of the source.

use std::fmt::Write as _;

/// A table whose columns after the first few are numbers.
pub(crate) struct Table {
    /// Number of columns with words, at the left.
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings; the first `words` stand over words.
    pub(crate) fn new(words: usize, headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| (*heading).to_owned());
        let rows = vec![headings.collect()];
        Self { words, rows }
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub(crate) fn markdown(&self) -> String {
        let cell = |row: usize, column| self.rows[row].get(column).map_or("", String::as_str);
        let width = |column| {
            let widths = (0..self.rows.len()).map(|row| cell(row, column).chars().count());
            widths.fold(3, usize::max)
        };
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        let mut out = String::new();
        for row in 0..self.rows.len() {
            for (column, &width) in widths.iter().enumerate() {
                let cell = cell(row, column);
                // Writing to a String cannot fail.
                let _ = if column < self.words {
                    write!(out, "| {cell:<width$} ")
                } else {
                    write!(out, "| {cell:>width$} ")
                };
            }
            out.push_str("|\n");
            if row == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let end = if column < self.words { '-' } else { ':' };
                    let _ = write!(out, "|-{}{end}", "-".repeat(*width));
                }
                out.push_str("|\n");
            }
        }
        out
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
