//! The surroundings of a run, which come from the outside.

use std::path::PathBuf;

use prony_host::{Launcher, Roots};
use prony_model::StopFlag;
use prony_probe::Root;
use prony_servers::Catalogue;

use crate::far::ClientHost;

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
    /// The root under which `/proc` is read.
    pub proc: Root,
    /// Processors that server and load generator share.
    pub cpus: u32,
    /// Bytes of all data images together, above which those go that were not used for longest.
    /// Images that the current run needs stay in any case.
    pub images_limit: u64,
    /// The host whose load generators load targets over the network, where the user named one.
    pub client_host: Option<&'a ClientHost>,
    /// Set when the user wants to stop.
    pub stop: &'a StopFlag,
}
