//! `prony guard`: become another program that dies with its parent.

use prony_host::{ChildSetup, Death, guard};
use prony_model::HugePages;

use crate::cli::{DeathArg, GuardArgs};
use crate::failure::{ExitStatus, Failure};

/// Becomes the program; returns only when that failed.
pub(crate) fn guard(args: &GuardArgs) -> Result<(), Failure> {
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Failure::new(ExitStatus::Usage, "no program was given"));
    };
    let setup = ChildSetup {
        cpus: args.cpus.clone(),
        huge_pages: if args.no_huge_pages {
            HugePages::Never
        } else {
            HugePages::System
        },
        preload: args.preload.clone(),
        not_as_root: args.not_as_root,
        death: match args.death {
            DeathArg::Kill => Death::Kill,
            DeathArg::Quit => Death::Quit,
        },
        hold: args.hold,
    };
    let error = guard::exec(args.parent, &setup, program, arguments);
    Err(Failure::host(error))
}
