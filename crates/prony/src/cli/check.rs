//! The arguments of `prony check`.

use clap::Args;

use super::ListFormatArg;

pub(crate) const EXPLANATION: &str = "\
It takes less than half a minute. Nothing else should run meanwhile. A bad finding means that a ratio
of a few percent can't be trusted here; the exit code is then 7. A doubtful one may cause such a
ratio, or matters for some experiments only. `prony run` reads what needs no time, and stores it.";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Show good findings too
    #[arg(long)]
    pub(crate) all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormatArg::Text)]
    pub(crate) format: ListFormatArg,
}
