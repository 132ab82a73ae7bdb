//! The surroundings of a lab: where things are, and how processes are started. Commands share them.

use std::env;
use std::path::PathBuf;

use prony_host::{Launcher, Leftover, Roots, clear_leftovers};
use prony_model::StopFlag;
use prony_probe::{HostFacts, Root};
use prony_servers::Catalogue;

use crate::cli::{ImagesLimitArgs, bytes};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Bytes of all data images together, above which those go that were not used for longest.
const IMAGES_LIMIT: u64 = 50 << 30;
/// The variable with another limit.
const IMAGES_LIMIT_VARIABLE: &str = "PRONY_IMAGES_LIMIT";

/// The paths, the host and the means to start processes.
pub(crate) struct Surroundings {
    pub(crate) roots: Roots,
    pub(crate) launcher: Launcher,
    pub(crate) prony: PathBuf,
    pub(crate) proc: Root,
    pub(crate) host: HostFacts,
    images_limit: u64,
}

impl Surroundings {
    /// Finds the cache, and ends and names what a killed Prony left behind.
    pub(crate) fn find() -> Result<Self, Failure> {
        let roots = Roots::from_environment().map_err(Failure::host)?;
        let prony = env::current_exe()
            .map_err(|error| Failure::host(format!("find the path of prony itself: {error}")))?;
        let launcher = Launcher::new(prony.clone()).map_err(Failure::host)?;
        for leftover in clear_leftovers(&roots).map_err(Failure::host)? {
            output::talk(&match leftover {
                Leftover::Elsewhere { .. } => leftover.to_string(),
                cleared => format!("cleared a leftover of an earlier run: {cleared}"),
            });
        }
        let proc = Root::live();
        let host = HostFacts::read(&proc);
        Ok(Self {
            roots,
            launcher,
            prony,
            proc,
            host,
            images_limit: IMAGES_LIMIT,
        })
    }

    /// The same with the user's limit of data images.
    pub(crate) fn with_limit(self, args: &ImagesLimitArgs) -> Result<Self, Failure> {
        let images_limit = match (args.images_limit, env::var(IMAGES_LIMIT_VARIABLE)) {
            (Some(limit), _) => limit,
            (None, Ok(text)) if !text.is_empty() => bytes(&text).map_err(|error| {
                let message = format!("{IMAGES_LIMIT_VARIABLE}: {error}");
                Failure::new(ExitStatus::Usage, message)
            })?,
            _ => IMAGES_LIMIT,
        };
        Ok(Self {
            images_limit,
            ..self
        })
    }

    /// The lab of a run.
    pub(crate) fn lab<'a>(
        &'a self,
        catalogue: &'a Catalogue,
        stop: &'a StopFlag,
    ) -> prony_lab::Lab<'a> {
        prony_lab::Lab {
            roots: &self.roots,
            catalogue,
            launcher: &self.launcher,
            prony: self.prony.clone(),
            proc: self.proc.clone(),
            cpus: self.host.cpus,
            images_limit: self.images_limit,
            stop,
        }
    }
}
