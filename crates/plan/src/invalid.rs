//! Problems of a file, as messages that point at its lines.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use toml::de::DeTable;

/// Says everything that is wrong with one experiment or workload file. Rendered by a
/// [`miette::ReportHandler`], each problem shows its lines, what is wrong there and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.headline())]
pub struct Invalid {
    file: NamedSource<String>,
    problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Problem {
    message: String,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

/// Reads a TOML file with `read`.
///
/// # Errors
/// When it is not TOML, or when `read` reported a problem.
pub(crate) fn read_toml<T>(
    name: &str,
    text: &str,
    read: impl for<'a> FnOnce(&'a Document<'a>, &'a DeTable<'a>) -> Read<T>,
) -> Result<T, Invalid> {
    let document = Document::new(name, text);
    let value = match DeTable::parse(text) {
        Ok(table) => read(&document, table.get_ref()),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = format!("{name} is not TOML: {}", error.message());
            Err(document.report(Problem::new(message).at(&span, "invalid from here on")))
        }
    };
    document.finish(value)
}

/// Bytes of the file from start to end (exclusive).
pub(crate) type Span = Range<usize>;

/// Witness that a problem was reported. Only [`Document::report`] makes one, so that no part of a
/// file can be given up in silence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reported(());

/// Result of reading a part of a file.
pub(crate) type Read<T> = Result<T, Reported>;

/// The file being read, and what has been found wrong with it so far.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    name: &'a str,
    text: &'a str,
    problems: RefCell<Vec<Problem>>,
    /// Places that messages must not show.
    hidden: RefCell<Vec<Span>>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            labels: Vec::new(),
            help: None,
        }
    }

    /// Points at a place in the file.
    pub(crate) fn at(mut self, span: &Span, label: impl Into<String>) -> Self {
        self.labels
            .push(LabeledSpan::new_with_span(Some(label.into()), span.clone()));
        self
    }

    /// Says what to do about it.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Reports it: the part of the file that has it can't be read.
    pub(crate) fn fail<T>(self, document: &Document<'_>) -> Read<T> {
        Err(document.report(self))
    }
}

impl<'a> Document<'a> {
    pub(crate) const fn new(name: &'a str, text: &'a str) -> Self {
        Self {
            name,
            text,
            problems: RefCell::new(Vec::new()),
            hidden: RefCell::new(Vec::new()),
        }
    }

    pub(crate) fn report(&self, problem: Problem) -> Reported {
        self.problems.borrow_mut().push(problem);
        Reported(())
    }

    /// Keeps a part of the file out of messages: they show stars in its place.
    pub(crate) fn hide(&self, span: &Span) {
        self.hidden.borrow_mut().push(span.clone());
    }

    /// The text as messages may show it, each byte where it was.
    fn shown(&self) -> String {
        let hidden = self.hidden.borrow();
        let mut text = String::with_capacity(self.text.len());
        for (at, c) in self.text.char_indices() {
            let secret = c != '\n' && hidden.iter().any(|span| span.contains(&at));
            if secret {
                text.extend(std::iter::repeat_n('*', c.len_utf8()));
            } else {
                text.push(c);
            }
        }
        text
    }

    /// Place of `part` inside `span`, or all of `span` if it is not there literally.
    pub(crate) fn within(&self, span: &Span, part: &str) -> Span {
        self.text
            .get(span.clone())
            .and_then(|text| text.find(part))
            .map_or(span.clone(), |offset| {
                let start = span.start + offset;
                start..start + part.len()
            })
    }

    /// Ends reading: the value, if nothing at all is wrong.
    ///
    /// # Errors
    /// When a problem was reported.
    pub(crate) fn finish<T>(self, value: Read<T>) -> Result<T, Invalid> {
        let shown = self.shown();
        let mut problems = self.problems.into_inner();
        match value {
            Ok(value) if problems.is_empty() => Ok(value),
            _ => {
                problems.sort_by_key(Problem::position);
                Err(Invalid {
                    file: NamedSource::new(self.name, shown),
                    problems,
                })
            }
        }
    }
}

impl Problem {
    fn position(&self) -> usize {
        self.labels.first().map_or(0, LabeledSpan::offset)
    }
}

impl Invalid {
    fn headline(&self) -> String {
        match self.problems.as_slice() {
            [only] => only.message.clone(),
            several => format!("{} problems in {}", several.len(), self.file.name()),
        }
    }

    /// The problem, where there is just one; it is then shown without a headline of its own.
    fn only(&self) -> Option<&Problem> {
        match self.problems.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

impl Diagnostic for Invalid {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.file)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.only().and_then(Diagnostic::labels)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.only().and_then(Diagnostic::help)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.only().is_some() {
            return None;
        }
        Some(Box::new(
            self.problems
                .iter()
                .map(|problem| problem as &dyn Diagnostic),
        ))
    }
}

impl Diagnostic for Problem {
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
}
