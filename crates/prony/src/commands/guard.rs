//! `prony guard`: become another program that dies with its parent.

use prony_servers::guard;

use crate::cli::GuardArgs;
use crate::failure::{ExitStatus, Failure};

/// Becomes the program; returns only when that failed.
pub(crate) fn guard(args: &GuardArgs) -> Result<(), Failure> {
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Failure::new(
            ExitStatus::Usage,
            "there is no program to become",
        ));
    };
    Err(Failure::to(
        ExitStatus::Host,
        &guard::exec(args.parent, program, arguments),
    ))
}
