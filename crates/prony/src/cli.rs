//! The command line. Doc comments are the help texts.

mod calibrate;
mod check;
mod client;
mod compare;
mod explain;
mod export;
mod fleet;
mod load;
mod report;
mod shell;
mod view;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use prony_model::{CpuSet, Family, IntentValue, IntentValueError};

use crate::failure::{ExitStatus, Failure};
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use check::CheckArgs;
pub(crate) use client::{ClientArgs, ClientCommand, ClientNameArgs};
pub(crate) use compare::CompareArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::ExportArgs;
pub(crate) use fleet::{CollectArgs, PartArgs, StatusArgs, SubmitArgs};

pub(crate) use load::{BackendArg, LoadArgs, SummaryFormatArg, TlsArg};
pub(crate) use report::{DisplayArg, ReportArgs};
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use view::ViewArgs;

/// Measures what database servers really deliver, version by version.
#[derive(Debug, Parser)]
#[command(name = "prony", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// Show results, warnings and errors only: no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done · 2 wrong usage · 3 invalid experiment, workload or catalogue file · \
4 a server could not be fetched or started · 5 the host lacks something · 6 some trials failed · \
7 this host is unfit for ratios of a few percent (check) · 70 a defect of Prony · \
75 a part is to be run again · 130, 143 interrupted";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment and print its report; or add blocks to a run, or confirm its verdicts
    Run(RunArgs),
    /// Show the steps and trials of an experiment, and its predicted time
    Plan(PlanArgs),
    /// Continue a run: run its missing trials, and its failed ones again
    Resume(ResumeArgs),
    /// Hand the blocks of an experiment to many hosts, by an engine such as Slurm
    #[command(after_help = fleet::SUBMIT)]
    Submit(SubmitArgs),
    /// Show how far a submitted run is
    Status(StatusArgs),
    /// Merge what the hosts of a submitted run have delivered, and print its report
    Collect(CollectArgs),
    /// Print the report of a run
    Report(ReportArgs),
    /// Show cells of one or several runs side by side, matched by what they are
    #[command(after_help = compare::EXPLANATION)]
    Compare(CompareArgs),
    /// Show which components and functions of a server an operation pays for, and what versions differ by
    #[command(after_help = explain::EXPLANATION)]
    Explain(ExplainArgs),
    /// Write a run as tables, or for tools that track and compare benchmarks
    #[command(after_help = export::EXPLANATION)]
    Export(ExportArgs),
    /// Drive load against one server by hand, and show the figures
    #[command(after_long_help = load::EXAMPLES)]
    Load(Box<LoadArgs>),
    /// Measure the load generator itself on this machine
    #[command(after_help = calibrate::EXPLANATION)]
    Calibrate(CalibrateArgs),
    /// Find out what makes measurements on this machine untrustworthy; change nothing
    #[command(after_help = check::EXPLANATION)]
    Check(CheckArgs),
    /// Server builds: list, fetch or verify them, or start one to inspect
    #[command(subcommand)]
    Servers(ServersCommand),
    /// Hosts that run load generators for servers on this one: try one, or copy Prony there
    #[command(subcommand, after_help = client::EXPLANATION)]
    Client(ClientCommand),
    /// Data images from which trials start: list them, or remove some
    #[command(subcommand)]
    Images(ImagesCommand),
    /// Workloads: list them, or show how one is defined
    #[command(subcommand)]
    Workloads(WorkloadsCommand),
    /// Sequences that experiments can name as their preset: list them, or show one
    #[command(subcommand)]
    Sequences(SequencesCommand),
    /// Print the completion of Prony's commands and options for a shell
    #[command(after_help = shell::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print a manual page, or write those of all commands into a folder
    #[command(after_help = shell::MANUAL)]
    Man(ManArgs),
    /// Measure blocks of a submitted run on this host, and deliver them
    #[command(hide = true)]
    Part(PartArgs),
    /// Run as the load generator: one job as JSON on standard input, JSON lines on standard output
    #[command(hide = true)]
    Generator,
    /// Run load generators for a Prony on another host: JSON lines on standard input and output
    #[command(hide = true)]
    Far,
    /// Answer any query at once with a canned result until SIGTERM; prints `ready` when it listens
    #[command(hide = true)]
    Null(NullArgs),
    /// Become another program, which is killed when the parent ends
    #[command(hide = true)]
    Guard(GuardArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The experiment file
    #[arg(required_unless_present_any = ["append", "confirm"])]
    experiment: Option<PathBuf>,
    /// Folder in which the run's own folder is created
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Measure nothing: run every cell once with a few operations, and check that answers are right
    /// and the same from every target
    #[arg(long)]
    pub(crate) verify: bool,
    /// Add blocks to this run, and run them together with those that it misses
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "experiment", "runs", "verify", "confirm", "profile", "files",
    ])]
    pub(crate) append: Option<PathBuf>,
    /// Number of blocks to add [default: as many as the run had when it began]
    #[arg(long, value_name = "N", requires = "append",
        conflicts_with_all = ["experiment", "confirm"],
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: Option<u32>,
    /// Begin a run that measures only the cells that this run judges improved or regressed; its
    /// report is an estimate that the choice of the cells does not bias
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "experiment", "verify", "profile", "files",
    ])]
    pub(crate) confirm: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) images: ImagesLimitArgs,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
}

impl RunArgs {
    /// The experiment file.
    pub(crate) fn experiment(&self) -> Result<&Path, Failure> {
        let missing = || Failure::new(ExitStatus::Usage, "name an experiment file");
        self.experiment.as_deref().ok_or_else(missing)
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The experiment file
    pub(crate) experiment: PathBuf,
    /// Start every server once, without data, and show its requested settings, its effective
    /// settings, and the differences between servers
    #[arg(long)]
    pub(crate) effective: bool,
    /// Format of the output of `--effective`
    #[arg(long, value_enum, default_value_t = FormatArg::Text, requires = "effective")]
    pub(crate) format: FormatArg,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run's folder
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) images: ImagesLimitArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
}

/// Limit of the size of data images.
#[derive(Debug, Args)]
pub(crate) struct ImagesLimitArgs {
    /// Maximum size of all data images together, such as 20G; the least recently used ones are
    /// removed when new ones need space [default: `$PRONY_IMAGES_LIMIT`, else 50G]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) images_limit: Option<u64>,
}

/// Reads a size in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, IntentValueError> {
    match IntentValue::parse_bytes(text)? {
        IntentValue::Bytes(bytes) => Ok(bytes),
        _ => Err(IntentValueError::NotBytes(text.to_owned())),
    }
}

/// Definitions with which an experiment is read.
#[derive(Debug, Args)]
pub(crate) struct DefinitionArgs {
    /// Profile of the experiment file to apply, such as small
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) workloads: WorkloadFileArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
}

/// Sources of workloads besides the built-in ones.
#[derive(Debug, Args)]
pub(crate) struct WorkloadFileArgs {
    /// File with your own workloads, which replace built-in ones of the same name; may be given
    /// several times
    #[arg(long = "workloads", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// Sources of catalogue entries besides the built-in ones.
#[derive(Debug, Args)]
pub(crate) struct CatalogueArgs {
    /// Folder with your own catalogue files, whose entries replace built-in ones of the same id
    /// [default: prony/catalog in your configuration folder, ~/.config, if it exists]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) catalog: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// For the terminal
    Text,
    /// Markdown tables
    Md,
    /// One line per target, step and block
    Csv,
    /// Everything, structured
    Json,
    /// One page for browsers, complete in one file
    Html,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// List the catalogue and which builds are on this machine
    List(ServersListArgs),
    /// Fetch server builds into the cache
    Fetch(ServersSelectArgs),
    /// Start each build, ask for its version, use every engine, stop it
    Verify(ServersSelectArgs),
    /// Start a throw-away instance, show how to connect, stop it on Ctrl-C
    Shell(ServersShellArgs),
    /// Inspect a server of your own, an unpacked folder or an archive, and add it to your catalogue
    Add(ServersAddArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ServersListArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormatArg::Text)]
    pub(crate) format: ListFormatArg,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormatArg {
    /// For the terminal
    Text,
    /// One object for each entry
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadsCommand {
    /// List workloads: name, group, effect on the tables, schema of the tables, parameters with
    /// their values, and description of an operation
    List(WorkloadsListArgs),
    /// Show the definition of a workload in the format of workload files
    Show(WorkloadsShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadsListArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormatArg::Text)]
    pub(crate) format: ListFormatArg,
    #[command(flatten)]
    pub(crate) files: WorkloadFileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadsShowArgs {
    /// The name of a workload, such as read-only
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) files: WorkloadFileArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SequencesCommand {
    /// List sequences: name, number of steps, and description
    List(ListArgs),
    /// Show the definition of a sequence with its history; its steps and sections can be copied
    /// into an experiment
    Show(SequencesShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SequencesShowArgs {
    /// The name of a sequence, such as smalldatum-2017
    pub(crate) sequence: String,
}

#[derive(Debug, Args)]
pub(crate) struct ServersSelectArgs {
    /// Catalogue ids, such as mysql-5.7.22
    #[arg(required_unless_present = "all")]
    pub(crate) builds: Vec<String>,
    /// Every entry of the catalogue
    #[arg(long, conflicts_with = "builds")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServersShellArgs {
    /// A catalogue id, such as mysql-5.7.22
    pub(crate) build: String,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServersAddArgs {
    /// Folder of an unpacked server, which is used in place, or an archive
    pub(crate) path: PathBuf,
    /// Id of the new build [default: family and version, such as mysql-8.4.5]
    #[arg(long)]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImagesCommand {
    /// List the images, most recently used first
    List(ListArgs),
    /// Remove images; a run that needs one creates it again
    Clear(ImagesClearArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormatArg::Text)]
    pub(crate) format: ListFormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct ImagesClearArgs {
    /// Keys, as `prony images list` shows them
    #[arg(required_unless_present_any = ["all", "build"])]
    pub(crate) keys: Vec<String>,
    /// Every image that no run uses
    #[arg(long, conflicts_with_all = ["keys", "build"])]
    pub(crate) all: bool,
    /// Every image of this server build that no run uses
    #[arg(long, value_name = "ID", conflicts_with = "keys")]
    pub(crate) build: Option<String>,
}

/// A signal that ends a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeathArg {
    Kill,
    Quit,
}

#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// Process id of the parent; if the parent has changed, nothing is started
    #[arg(long)]
    pub(crate) parent: u32,
    /// Processors that the program may use, such as 0-3
    #[arg(long)]
    pub(crate) cpus: Option<CpuSet>,
    /// Run the program without transparent huge pages
    #[arg(long)]
    pub(crate) no_huge_pages: bool,
    /// Library that the program loads before all others; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) preload: Vec<PathBuf>,
    /// Run the program in a user namespace where this user is root, or has no name
    #[arg(long)]
    pub(crate) not_as_root: bool,
    /// Signal that ends the program when the parent dies
    #[arg(long, value_enum, default_value_t = DeathArg::Kill)]
    pub(crate) death: DeathArg,
    /// Become the program only when standard input is closed
    #[arg(long)]
    pub(crate) hold: bool,
    /// The program and its arguments
    #[arg(required = true, last = true)]
    pub(crate) program: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct NullArgs {
    /// Unix socket to create and listen on
    #[arg(long, value_name = "PATH", required_unless_present = "port")]
    pub(crate) socket: Option<PathBuf>,
    /// The port of the loopback address 127.0.0.1 to listen on instead
    #[arg(long, conflicts_with = "socket")]
    pub(crate) port: Option<u16>,
    /// Family whose protocol it speaks: mysql, mariadb or postgresql
    #[arg(long, default_value_t = Family::Mysql)]
    pub(crate) family: Family,
    /// Serve queries one at a time, each for this many microseconds
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    pub(crate) service_us: u64,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_run_is_of_an_experiment_or_of_another_run() {
        let is_fine = |arguments: &str| {
            let arguments = arguments.split(' ');
            Cli::try_parse_from(["prony", "run"].into_iter().chain(arguments)).is_ok()
        };
        for fine in [
            "x.toml",
            "--append runs/x",
            "--append runs/x --blocks 3",
            "--confirm runs/x --runs elsewhere",
        ] {
            assert!(is_fine(fine), "{fine}");
        }
        for wrong in [
            "--verify",
            "x.toml --append runs/x",
            "x.toml --blocks 3",
            "--append runs/x --blocks 0",
            "--append runs/x --runs elsewhere",
            "--append runs/x --profile small",
            "--append runs/x --confirm runs/x",
            "--confirm runs/x --blocks 3",
            "--confirm runs/x --verify",
            "--confirm runs/x x.toml",
        ] {
            assert!(!is_fine(wrong), "{wrong}");
        }
    }
}
