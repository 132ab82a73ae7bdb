//! A report as a sequence of blocks, before it becomes text or Markdown.

use std::fmt;

use crate::chart::Chart;

/// Shown where there is no figure.
pub(crate) const NONE: &str = "-";

/// Stands before a figure that a warning concerns.
pub(crate) const MARK: &str = "! ";

/// One block of a report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// The title, once.
    Title(String),
    /// The title of a part of the sequence, whose tables have subheadings.
    Section(String),
    /// The heading of a section.
    Heading(String),
    /// The heading of a table in a part of the sequence.
    Subheading(String),
    /// Prose.
    Paragraph(String),
    /// Named facts.
    Facts(Vec<(&'static str, String)>),
    /// Figures.
    Table(Table),
    /// A graph, beside a table with its figures; formats that can't draw leave it out.
    Chart(Chart),
    /// A complete picture, as an element `svg`; formats that can't draw leave it out.
    Picture(String),
    /// Items of a list.
    List(Vec<String>),
    /// Lines to be shown as they are.
    Verbatim(Vec<String>),
}

/// A table whose first column names the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// One heading per column.
    pub(crate) header: Vec<Cell>,
    /// One cell per column in each row.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// The alignment of the columns after the first.
    pub(crate) align: Align,
    /// A table that is too wide is divided between columns, and every part begins with this many
    /// of the first ones.
    pub(crate) repeated: usize,
}

/// The alignment of the columns after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// As words are.
    Left,
    /// As numbers are.
    Right,
}

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    text: String,
    /// The figure behind the text.
    pub(crate) value: Option<f64>,
    /// Whether a warning, or a failed trial, concerns it.
    pub(crate) mark: bool,
}

impl Table {
    /// A table of words.
    pub(crate) fn of_words<H: Into<Cell>>(
        header: impl IntoIterator<Item = H>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        Self {
            header: header.into_iter().map(Into::into).collect(),
            rows: rows.into_iter().collect(),
            align: Align::Left,
            repeated: 1,
        }
    }

    /// A table of figures.
    pub(crate) fn of_figures<H: Into<Cell>>(
        header: impl IntoIterator<Item = H>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        Self {
            align: Align::Right,
            ..Self::of_words(header, rows)
        }
    }

    /// The same, with the first two columns in every part where it must be divided.
    pub(crate) fn repeating_two(self) -> Self {
        Self {
            repeated: 2,
            ..self
        }
    }
}

impl Cell {
    /// A figure in words.
    pub(crate) const fn figure(text: String, value: f64) -> Self {
        Self {
            text,
            value: Some(value),
            mark: false,
        }
    }

    /// No figure.
    pub(crate) fn none() -> Self {
        NONE.into()
    }

    /// The same with a mark, where it needs one.
    pub(crate) fn marked(self, mark: bool) -> Self {
        Self { mark, ..self }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text,
            value: None,
            mark: false,
        }
    }
}

impl<C: Into<Self>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Self {
        cell.map_or_else(Self::none, Into::into)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.mark { MARK } else { "" };
        write!(f, "{mark}{}", self.text)
    }
}
