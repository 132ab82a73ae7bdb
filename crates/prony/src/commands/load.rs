//! `prony load`: load by hand against one server.

mod watch;
mod work;

use std::cell::RefCell;

use prony_lab::{AdHoc, AdHocEnd, AdHocError, LabError};
use prony_load::BackendError;
use prony_report::adhoc::{AdHocLoad, HdrFile, Summary};

use self::watch::Watch;
use crate::cli::{LoadArgs, SummaryFormatArg};
use crate::commands::complete::lab_failure;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::signals::Signals;
use crate::surroundings::Surroundings;

/// Drives the load and prints how it went.
pub(crate) fn load(args: &LoadArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    let work = work::work(args, &catalogue)?;
    let log = args.output.hdr_log.as_deref();
    let mut log = log.map(HdrFile::open).transpose().map_err(Failure::host)?;
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
    let watched = watch.into_inner().finish();
    let end = end.map_err(|error| adhoc_failure(&error))?;
    let summary = Summary::of(&AdHocLoad {
        target: &work.target,
        dataset: &work.dataset,
        step: &work.step,
        seed: work.seed,
        cpus: lab.cpus,
        server_version: &end.server_version,
        outcome: end.outcome.as_ref(),
        scheduling_groups: end.scheduling_groups.as_ref(),
        server_cpu_ns: end.server_cpu_ns,
        placement: end.placement.as_ref(),
        samples: &end.samples,
        intervals: &watched.intervals,
    });
    print(&summary, args)?;
    if let Some(error) = watched.log_error {
        return Err(Failure::host(error));
    }
    interrupted(&work, &end, signals)
}

fn print(summary: &Summary, args: &LoadArgs) -> Result<(), Failure> {
    match args.output.format {
        SummaryFormatArg::Text => output::data(&summary.text()),
        SummaryFormatArg::Json => {
            let json = summary.json();
            output::data(&json.map_err(Failure::defect)?)
        }
    }
}

/// Reports that the user stopped it.
fn interrupted(work: &AdHoc, end: &AdHocEnd, signals: &Signals) -> Result<(), Failure> {
    if end.outcome.is_some() {
        return Ok(());
    }
    let what = match work.target.external {
        None => "interrupted; the server has been removed",
        Some(_) => "interrupted; the server is still running",
    };
    Err(Failure::interrupted(signals, what))
}

/// The exit code of an error that ends a load. Definitions come from the command line here, so that
/// their errors are errors of usage.
fn adhoc_failure(error: &AdHocError) -> Failure {
    match error {
        AdHocError::Lab(
            error @ (LabError::Render { .. }
            | LabError::Password { .. }
            | LabError::Backend(BackendError::Encrypted)),
        ) => Failure::to(ExitStatus::Usage, error),
        AdHocError::Lab(error @ LabError::Tables { .. }) => lab_failure(error)
            .with_hint("--fill creates and fills the tables; --tables sets their number"),
        AdHocError::Lab(error) => lab_failure(error),
        AdHocError::Failed { reason, log_tail } => {
            Failure::new(ExitStatus::Server, reason).with_log(Some(log_tail))
        }
    }
}
