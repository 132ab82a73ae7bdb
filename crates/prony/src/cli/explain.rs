//! The options of `prony explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use prony_report::{ExplainBy, ExplainFormat, ExplainUnit};

pub(crate) const EXPLANATION: &str = "\
Needs a run whose counting trials used valgrind (`with = \"valgrind\"` in [counting]), or one with profiling
trials ([profiling]).
Without --step: the steps whose cost per operation grew most. With --step: all targets side by
side. With --step and --target: components, functions and paths of this target beside its base.";

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The run's folder
    pub(crate) run: PathBuf,
    /// Step to explain
    #[arg(long, value_name = "NAME")]
    pub(crate) step: Option<String>,
    /// Its number of clients, where it has several [default: its first]
    #[arg(long, value_name = "N")]
    pub(crate) clients: Option<u32>,
    /// Target to explain
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Target to compare it with [default: its base in the run]
    #[arg(long, value_name = "TARGET")]
    pub(crate) base: Option<String>,
    /// Unit of costs [default: instructions where they were counted, else time]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) unit: Option<UnitArg>,
    /// Show one kind of row only, and all of it
    #[arg(long, value_enum, value_name = "KIND", requires = "step")]
    pub(crate) by: Option<ByArg>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExplainFormatArg::Text)]
    pub(crate) format: ExplainFormatArg,
    /// File of your own components, whose patterns go before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) components: Option<PathBuf>,
    /// File for a flame graph as SVG; of the difference where the target has a base
    #[arg(long, value_name = "FILE", requires = "step")]
    pub(crate) flame: Option<PathBuf>,
    /// File for folded stacks, as programs for flame graphs read them; in thousandths of the unit, of base and
    /// target where the target has a base
    #[arg(long, value_name = "FILE", requires = "step")]
    pub(crate) folded: Option<PathBuf>,
    /// File for the target's stacks in the format of pprof, in thousandths of the unit
    #[arg(long, value_name = "FILE", requires = "step")]
    pub(crate) pprof: Option<PathBuf>,
}

/// A kind of row.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ByArg {
    /// Parts of a server
    Component,
    /// Functions
    Function,
    /// Functions with all that they call
    Path,
}

/// A unit of costs.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum UnitArg {
    /// User-space instructions, from counting trials in valgrind
    Instructions,
    /// Time on a processor, kernel included, from samples of stacks in profiling trials
    Time,
}

impl From<UnitArg> for ExplainUnit {
    fn from(unit: UnitArg) -> Self {
        match unit {
            UnitArg::Instructions => Self::Instructions,
            UnitArg::Time => Self::Time,
        }
    }
}

/// A format of explanations.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExplainFormatArg {
    /// For a terminal
    Text,
    /// For documents
    Md,
    /// For programs
    Json,
}

impl From<ByArg> for ExplainBy {
    fn from(by: ByArg) -> Self {
        match by {
            ByArg::Component => Self::Component,
            ByArg::Function => Self::Function,
            ByArg::Path => Self::Path,
        }
    }
}

impl From<ExplainFormatArg> for ExplainFormat {
    fn from(format: ExplainFormatArg) -> Self {
        match format {
            ExplainFormatArg::Text => Self::Text,
            ExplainFormatArg::Md => Self::Markdown,
            ExplainFormatArg::Json => Self::Json,
        }
    }
}
