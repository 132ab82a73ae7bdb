//! A report as a sequence of blocks, before it becomes text or Markdown.

/// One block of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Items of a list.
    List(Vec<String>),
    /// Lines to be shown as they are.
    Verbatim(Vec<String>),
}

/// A table whose first column names the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// One heading per column.
    pub(crate) header: Vec<String>,
    /// One text per column in each row.
    pub(crate) rows: Vec<Vec<String>>,
    /// How the columns after the first are aligned.
    pub(crate) align: Align,
    /// A table that is too wide is divided between columns, and every part begins with this many
    /// of the first ones.
    pub(crate) repeated: usize,
}

/// How the columns after the first are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// As words are.
    Left,
    /// As numbers are.
    Right,
}
