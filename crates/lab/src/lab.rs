//! What running an experiment needs from the outside.

use std::path::PathBuf;
use std::process::Command;

use prony_model::StopFlag;
use prony_probe::Root;
use prony_servers::{Catalogue, Launcher, Roots};

/// The surroundings of a run: where things are, and how processes are started.
pub struct Lab<'a> {
    /// The cache: builds, images, instances.
    pub roots: &'a Roots,
    /// Every known server build and intent.
    pub catalogue: &'a Catalogue,
    /// Starts children that die with this process.
    pub launcher: &'a Launcher,
    /// The program whose `load` command is the load generator: this one.
    pub prony: PathBuf,
    /// Where `/proc` is read.
    pub proc: Root,
    /// Processors that server and load generator share.
    pub cpus: u32,
    /// Set when the user wants to stop.
    pub stop: &'a StopFlag,
}

impl Lab<'_> {
    /// The load generator, ready to be handed a job.
    pub(crate) fn load_command(&self) -> Command {
        let mut command = self.launcher.command(&self.prony);
        command.arg("load");
        command
    }
}
