//! The options of `prony report`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use prony_report::{Extent, StepChoice};

use super::{FormatArg, ViewArgs};
use crate::failure::{ExitStatus, Failure};

/// Title of the options that choose what is shown.
const EXTENT: &str = "What is shown, as text or Markdown [default: findings and ratios]";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run's folder
    #[arg(required_unless_present = "schema")]
    run: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub(crate) format: FormatArg,
    #[command(flatten)]
    pub(crate) extent: ExtentArgs,
    /// Form of the ratios of all steps: of throughput, or of the time of an operation [default: as the
    /// experiment asks for]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["lineage", "view"])]
    pub(crate) display: Option<DisplayArg>,
    /// Show where in the order of the targets the large changes are, for experiments whose targets
    /// are versions from old to new
    #[arg(long, conflicts_with_all = ["detail", "steps", "clients", "sections"])]
    pub(crate) lineage: bool,
    /// Print the experiment's file as the run was begun with it, or the file of own workloads of
    /// this name
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["format", "detail", "steps", "clients", "sections", "lineage", "view"])]
    pub(crate) experiment: Option<String>,
    /// Print the schema of reports as JSON, which needs no run
    #[arg(long, conflicts_with_all = ["run", "format", "detail", "steps", "clients", "sections", "lineage",
        "view", "experiment"])]
    pub(crate) schema: bool,
    /// File to write to, in place of an older one; standard output without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// A form of ratios.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DisplayArg {
    /// Throughput ÷ that of the base: above 1 is faster
    Throughput,
    /// Time of an operation ÷ that of the base: above 1 is slower
    Time,
}

impl ReportArgs {
    /// The run's folder.
    pub(crate) fn run(&self) -> Result<&Path, Failure> {
        let missing = || Failure::new(ExitStatus::Usage, "name the folder of a run");
        self.run.as_deref().ok_or_else(missing)
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = EXTENT)]
pub(crate) struct ExtentArgs {
    /// Everything: absolute figures, times, costs, settings, warnings and their explanations
    #[arg(long, conflicts_with_all = ["steps", "clients", "sections"])]
    detail: bool,
    /// The details of this step, in whose name `*` stands for any characters; may be given several
    /// times
    #[arg(long = "step", value_name = "NAME")]
    steps: Vec<String>,
    /// The details at this number of clients; may be given several times
    #[arg(long, value_name = "N")]
    clients: Vec<u32>,
    /// The details of the steps in the section of this title, in which `*` stands for any
    /// characters; may be given several times
    #[arg(long = "section", value_name = "TITLE")]
    sections: Vec<String>,
}

impl ExtentArgs {
    /// The extent that was asked for.
    pub(crate) fn extent(&self) -> Extent {
        let chosen = StepChoice {
            names: self.steps.clone(),
            clients: self.clients.clone(),
            sections: self.sections.clone(),
        };
        match self.detail {
            true => Extent::Whole,
            false if chosen == StepChoice::default() => Extent::Answer,
            false => Extent::Steps(chosen),
        }
    }
}
