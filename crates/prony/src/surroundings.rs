//! The surroundings of a lab: where things are, and how processes are started. Commands share them.

use std::env;
use std::path::PathBuf;

use prony_fleet::{Client, read_client};
use prony_host::{Launcher, Leftover, Roots, clear_leftovers};
use prony_lab::{ClientHost, ClientHostSetup, is_public};
use prony_model::{Plan, StopFlag, Target};
use prony_probe::{HostFacts, Root};
use prony_servers::Catalogue;

use crate::cli::{ClientArgs, ImagesLimitArgs, bytes};
use crate::definitions::own_folder;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::own_build::own_build;

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
    client_host: Option<ClientHost>,
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
            client_host: None,
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

    /// The same with the host that loads the targets of `plan` that are loaded over the network, if it has
    /// such. `usual` is its name where the user gives none.
    pub(crate) fn with_client(
        self,
        args: &ClientArgs,
        plan: &Plan,
        usual: Option<&str>,
    ) -> Result<Self, Failure> {
        let Some(far) = plan.targets.iter().find(|target| Target::is_far(target)) else {
            if args.client.is_some() {
                output::notice("--client is not used: no target has `transport = \"network\"`");
            }
            return Ok(self);
        };
        let Some(name) = args.client.as_deref().or(usual) else {
            let message = format!(
                "target {} is loaded over the network, and no host is named that loads it",
                far.name
            );
            return Err(Failure::new(ExitStatus::Usage, message)
                .with_hint("name one with --client NAME; `prony client --help` says how"));
        };
        let client_host = self.client(name, args)?.1;
        Ok(Self {
            client_host: Some(client_host),
            ..self
        })
    }

    /// A host of the user's file that loads servers, and the way to it.
    pub(crate) fn client(
        &self,
        name: &str,
        args: &ClientArgs,
    ) -> Result<(Client, ClientHost), Failure> {
        let path = args.hosts.clone();
        let path = path.or_else(|| Some(own_folder()?.join("hosts.toml")));
        let path = path.ok_or_else(|| {
            Failure::new(
                ExitStatus::Usage,
                "name the file of hosts with --hosts FILE",
            )
        })?;
        let client = read_client(&path, name).map_err(Failure::invalid)?;
        if is_public(client.listen) && !client.public {
            let message = format!(
                "client {name}: {} is no address of a private network, so that anybody may reach \
                 old servers with known holes",
                client.listen
            );
            return Err(Failure::new(ExitStatus::Invalid, message).with_hint(
                "use an address of a private network; or let a firewall guard it, and say public = true",
            ));
        }
        let build = own_build()?;
        let setup = ClientHostSetup {
            name: name.to_owned(),
            command: client.command(&self.prony, &build),
            listen: client.listen,
            cpus: client.cpus.clone(),
            build,
        };
        let client_host = ClientHost::new(setup, &self.launcher).map_err(Failure::invalid)?;
        Ok((client, client_host))
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
            client_host: self.client_host.as_ref(),
            stop,
        }
    }
}
