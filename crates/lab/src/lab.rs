//! What running an experiment needs from the outside.

use std::path::PathBuf;
use std::process::Command;

use prony_host::{Launcher, Placement, Roots};
use prony_model::{CpuSet, StopFlag};
use prony_probe::Root;
use prony_servers::Catalogue;

use crate::calibrate::Calibrator;

/// The surroundings of a run: where things are, and how processes are started.
pub struct Lab<'a> {
    /// The cache: builds, images, instances.
    pub roots: &'a Roots,
    /// Every known server build and intent.
    pub catalogue: &'a Catalogue,
    /// Starts children that die with this process.
    pub launcher: &'a Launcher,
    /// The program whose `generator` command is the load generator: this one.
    pub prony: PathBuf,
    /// Where `/proc` is read.
    pub proc: Root,
    /// Processors that server and load generator share.
    pub cpus: u32,
    /// Bytes of all data images together, above which those go that were not used for longest.
    /// What the run at hand needs stays all the same.
    pub images_limit: u64,
    /// Set when the user wants to stop.
    pub stop: &'a StopFlag,
}

impl Lab<'_> {
    /// What measures the load generator itself.
    pub(crate) fn calibrator(&self) -> Calibrator<'_> {
        Calibrator {
            roots: self.roots,
            launcher: self.launcher,
            prony: &self.prony,
            proc: &self.proc,
            stop: self.stop,
        }
    }

    /// The load generator on these processors, or on all, ready to be handed a job.
    pub(crate) fn generator_command(&self, cpus: Option<&CpuSet>) -> Command {
        let placement = Placement {
            cpus: cpus.cloned(),
            ..Placement::default()
        };
        let mut command = self.launcher.placed_command(&self.prony, &placement);
        command.arg("generator");
        command
    }
}
