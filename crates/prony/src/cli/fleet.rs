//! Arguments of the commands for many hosts.

use std::path::PathBuf;

use clap::Args;

use super::{DefinitionArgs, ListFormatArg};

/// Printed after the help of `submit`.
pub(crate) const SUBMIT: &str = "\
Examples:
  prony submit x.toml --to slurm --partition bench
  prony submit x.toml --to slurm --blocks-per-job 2 -- --account=db --qos=night
  prony submit x.toml --to hosts hosts.toml
  prony submit runs/x-20260101-200000      # what is missing, once more

The folder of the run must be on a file system that all hosts share, and the cache of each host
($PRONY_CACHE) on a disk of its own. docs/fleet.md says more.";

#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// An experiment file; or the folder of a submitted run, of which the missing blocks are handed over
    /// once more
    pub(crate) experiment: PathBuf,
    /// What hands the blocks to hosts: slurm; or hosts, followed by a file that names them
    #[arg(long, value_names = ["ENGINE", "FILE"], num_args = 1..=2)]
    pub(crate) to: Vec<String>,
    /// Blocks that a job measures one after the other on its host
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks_per_job: Option<u32>,
    /// Slurm's partition
    #[arg(long)]
    pub(crate) partition: Option<String>,
    /// Features that a host must have, as Slurm knows them
    #[arg(long)]
    pub(crate) constraint: Option<String>,
    /// Maximum number of jobs that run at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_jobs: Option<u32>,
    /// Folder in which the run's own folder is created
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    /// Options for sbatch
    #[arg(last = true, value_name = "SBATCH OPTIONS")]
    pub(crate) options: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The folder of a submitted run
    pub(crate) run: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormatArg::Text)]
    pub(crate) format: ListFormatArg,
}

#[derive(Debug, Args)]
pub(crate) struct CollectArgs {
    /// The folder of a submitted run
    pub(crate) run: PathBuf,
    /// Merge blocks of unlike hosts too
    #[arg(long)]
    pub(crate) mixed_hosts: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// The folder of a submitted run
    pub(crate) run: PathBuf,
    /// Blocks to measure, from 1, such as 3 or 3..4 [default: those of the task]
    #[arg(long, conflicts_with_all = ["round", "task"], required_unless_present = "round")]
    pub(crate) blocks: Option<String>,
    /// The round of the submission
    #[arg(long)]
    pub(crate) round: Option<u32>,
    /// The task within the round [default: `$SLURM_ARRAY_TASK_ID`]
    #[arg(long, requires = "round")]
    pub(crate) task: Option<usize>,
    /// Name of this host [default: `$SLURMD_NODENAME`, else the host's own name]
    #[arg(long)]
    pub(crate) host_name: Option<String>,
    #[command(flatten)]
    pub(crate) images: super::ImagesLimitArgs,
    #[command(flatten)]
    pub(crate) catalogue: super::CatalogueArgs,
}
