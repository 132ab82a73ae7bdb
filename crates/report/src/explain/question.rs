//! What is explained.

/// What is explained, as the user wrote it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExplainQuestion<'a> {
    /// Name of a step; `None` for those whose cost grew most.
    pub step: Option<&'a str>,
    /// Clients of the step, where it has several numbers of them.
    pub clients: Option<u32>,
    /// Name of a target; `None` for all targets side by side.
    pub target: Option<&'a str>,
    /// Name of the target that it is compared with; `None` for the base that the run gives it.
    pub base: Option<&'a str>,
    /// The only kind of row that is shown, and all rows of it.
    pub by: Option<ExplainBy>,
    /// What costs are given in; `None` for instructions where they were counted, else time.
    pub unit: Option<ExplainUnit>,
}

/// What costs of an operation are given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainUnit {
    /// Instructions in user space, from counting trials in valgrind.
    Instructions,
    /// Nanoseconds of a processor: the processor time of timed trials, divided among the stacks that profiling
    /// trials have found.
    Time,
}

impl ExplainUnit {
    /// The unit of all figures.
    pub(super) fn of_operation(self) -> &'static str {
        match self {
            Self::Instructions => "instructions per operation",
            Self::Time => "nanoseconds of a processor per operation",
        }
    }
}

/// Formats of explanations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainFormat {
    /// For a terminal.
    Text,
    /// For documents.
    Markdown,
    /// For programs: every row.
    Json,
}

/// Kinds of rows of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainBy {
    /// Parts of a server.
    Component,
    /// Functions.
    Function,
    /// Functions with all that they call.
    Path,
}
