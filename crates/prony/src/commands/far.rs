//! `prony far`: what runs on a host whose load generators load servers elsewhere.

use std::env;
use std::io;

use prony_host::Launcher;
use prony_lab::serve_far;

use crate::failure::Failure;
use crate::own_build::own_build;

/// Serves until the input ends or is silent.
pub(crate) fn far() -> Result<(), Failure> {
    let prony = env::current_exe()
        .map_err(|error| Failure::host(format!("find the path of prony itself: {error}")))?;
    let launcher = Launcher::new(prony.clone()).map_err(Failure::host)?;
    serve_far(&launcher, prony, own_build()?, io::stdin(), io::stdout())
        .map_err(|error| Failure::host(format!("answer the other host: {error}")))
}
