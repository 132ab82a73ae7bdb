//! `prony load`: load by hand against one server.

mod figures;
mod hdr_log;
mod live;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod times;
mod watch;
mod work;

use std::cell::RefCell;

use prony_lab::{AdHoc, AdHocEnd, AdHocError, LabError};
use prony_load::BackendError;

use self::figures::Figures;
use self::hdr_log::HdrFile;
use self::summary::Summary;
use self::watch::Watch;
use crate::cli::{LoadArgs, SummaryFormatArg};
use crate::commands::run::lab_failure;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::session::Surroundings;
use crate::signals::Signals;

/// Drives the load and prints how it went.
pub(crate) fn load(args: &LoadArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    let work = work::work(args, &catalogue)?;
    let host_failure = |error| Failure::to(ExitStatus::Host, &error);
    let log = args.output.hdr_log.as_deref();
    let mut log = log.map(HdrFile::open).transpose().map_err(host_failure)?;
    let surroundings = Surroundings::find()?.with_limit(&args.images)?;
    let lab = surroundings.lab(&catalogue, &signals.stop);
    // Events and messages come at different times, and both are shown.
    let watch = RefCell::new(Watch::new(&work, log.as_mut()));
    let end = prony_lab::adhoc(
        &lab,
        &work,
        &mut |event| watch.borrow_mut().event(&event),
        &mut |message| watch.borrow_mut().message(message),
    );
    let seen = watch.into_inner().finish();
    let end = end.map_err(|error| adhoc_failure(&error))?;
    let figures = match &end.outcome {
        Some(outcome) => Some(Figures::of(outcome, end.server_cpu_ns)),
        None => Figures::so_far(&seen.intervals, seen.service.as_ref()),
    };
    print(&Summary::new(&work, &end, figures, &seen.intervals), args)?;
    if let Some(error) = seen.log_error {
        return Err(host_failure(error));
    }
    interrupted(&work, &end, signals)
}

fn print(summary: &Summary, args: &LoadArgs) -> Result<(), Failure> {
    match args.output.format {
        SummaryFormatArg::Text => output::data(&text::text(summary)),
        SummaryFormatArg::Json => {
            let json = summary.json();
            output::data(&json.map_err(|error| Failure::to(ExitStatus::Defect, &error))?)
        }
    }
}

/// Says so where the user stopped it.
fn interrupted(work: &AdHoc, end: &AdHocEnd, signals: &Signals) -> Result<(), Failure> {
    if end.outcome.is_some() {
        return Ok(());
    }
    let what = match work.target.external {
        None => "interrupted; the server is gone",
        Some(_) => "interrupted; the server goes on",
    };
    let code = ExitStatus::Interrupted(signals.exit_code());
    Err(Failure::new(code, what))
}

/// The exit code of what ends a load. What is wrong with a definition here is wrong with the command
/// line.
fn adhoc_failure(error: &AdHocError) -> Failure {
    match error {
        AdHocError::Lab(
            error @ (LabError::Render { .. }
            | LabError::Password { .. }
            | LabError::Backend(BackendError::Encrypted)),
        ) => Failure::to(ExitStatus::Usage, error),
        AdHocError::Lab(error @ LabError::Tables { .. }) => lab_failure(error)
            .with_hint("--fill makes and fills the tables; --tables says how many there are"),
        AdHocError::Lab(error) => lab_failure(error),
        AdHocError::Failed { reason, log_tail } => {
            Failure::new(ExitStatus::Server, reason).with_log(Some(log_tail))
        }
    }
}
