//! Arguments about hosts that run load generators.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Printed after the help of `client`.
pub(crate) const EXPLANATION: &str = "\
Targets with `transport = \"network\"` are loaded from another host, which ~/.config/prony/hosts.toml names:

  [client.load1]
  ssh = \"bench@load1\"       # what ssh takes; or prefix = [\"srun\", \"-w\", \"load1\", \"-n1\"]
  listen = \"10.0.0.1\"       # the address of this host that servers listen on
  cpus = \"0-15\"             # optional: processors of the load generator
  prony = \"/opt/prony\"      # optional: the program there

  prony client install load1
  prony client check load1
  prony run x.toml --client load1

docs/remote-client.md says more.";

#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    /// Start Prony there, and show the host and the network to it
    Check(ClientNameArgs),
    /// Copy this program there, over ssh
    Install(ClientNameArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ClientNameArgs {
    /// The name of a client in the file of hosts
    pub(crate) client: String,
    /// File that names hosts [default: prony/hosts.toml in your configuration folder, ~/.config]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
}

/// The host that loads targets over the network.
#[derive(Debug, Args)]
pub(crate) struct ClientArgs {
    /// Host that loads the targets with `transport = "network"`; `prony client --help` says more
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// File that names hosts [default: prony/hosts.toml in your configuration folder, ~/.config]
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
}
