//! What all commands that run trials have in common: run what is missing, print the report.

use std::cell::RefCell;
use std::path::Path;

use prony_lab::{Alarms, History, LabError, RunEnd};
use prony_load::BackendError;
use prony_plan::{Assumptions, predicted_ms};
use prony_report::{Extent, identical_servers};
use prony_servers::Catalogue;
use prony_store::Store;

use crate::cli::FormatArg;
use crate::commands::campaign::CampaignLoop;
use crate::commands::page;
use crate::commands::report::print;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::words::{duration, plural};

/// The reason why a run is not complete.
pub(crate) struct Stopped {
    /// The message for the user.
    pub(crate) failure: Failure,
    /// Continuing can't help: see [`prony_lab::LabError::is_before_loading`].
    pub(crate) before_loading: bool,
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            before_loading: false,
        }
    }
}

/// Runs what is missing of a run and the blocks that its campaign adds, prints its report, leaves its
/// page in the folder, and says by the failure what is wrong.
pub(crate) fn complete(
    store: &mut Store,
    folder: &Path,
    catalogue: &Catalogue,
    surroundings: &Surroundings,
    signals: &Signals,
) -> Result<(), Stopped> {
    let lab = surroundings.lab(catalogue, &signals.stop);
    let history = History::of(&surroundings.roots, &surroundings.proc);
    let trial_ms = announce(store, &history)?;
    let progress = RefCell::new(Progress::start(store.plan().trials.len(), trial_ms));
    let mut campaign = CampaignLoop::default();
    let end = prony_lab::run(
        &lab,
        store,
        &folder.join("artefacts"),
        &mut |event| progress.borrow_mut().show(&event),
        &mut |store| campaign.more(store, &mut |line| progress.borrow().say(line)),
    );
    progress.into_inner().finish();
    let resume = format!("prony resume {}", folder.display());
    match end {
        Ok(RunEnd::Interrupted) => {
            page::leave_if_possible(store, folder);
            let message = "interrupted; all completed trials are stored";
            let failure = Failure::new(ExitStatus::Interrupted(signals.exit_code()), message);
            Err(failure.with_hint(format!("continue with: {resume}")).into())
        }
        Ok(RunEnd::Complete { failed }) => {
            record(store, &history)?;
            print(store, FormatArg::Text, &Extent::Answer)?;
            campaign.end(store)?;
            page::leave(store, folder)?;
            if failed == 0 {
                return Ok(());
            }
            let message = format!("{failed} of {} trials failed", store.plan().trials.len());
            let failure = Failure::new(ExitStatus::TrialsFailed, message);
            Err(failure
                .with_hint("the report lists them with their reasons")
                .into())
        }
        Err(error) => {
            let before_loading = error.is_before_loading();
            if !before_loading {
                page::leave_if_possible(store, folder);
            }
            Err(Stopped {
                failure: lab_failure(&error)
                    .with_hint(format!("once fixed, continue with: {resume}")),
                before_loading,
            })
        }
    }
}

/// Says how long the trials take that this host can run, and returns the milliseconds of one on
/// average.
fn announce(store: &Store, history: &History) -> Result<u64, Failure> {
    let plan = store.plan();
    let missing = store.missing_here().map_err(Failure::host)?;
    // A campaign may add blocks to a plan without missing trials.
    let like = if missing.is_empty() {
        &plan.trials
    } else {
        &missing
    };
    let (trial_ms, source) = if let Some(ms) = history.predicted_ms(plan, like) {
        let trial_ms = ms / (like.len() as u64).max(1);
        (trial_ms, "as in earlier runs on this host")
    } else {
        let all_ms = predicted_ms(plan, &Assumptions::default());
        let trial_ms = all_ms / (plan.trials.len() as u64).max(1);
        (trial_ms, "predicted without an earlier run on this host")
    };
    if !missing.is_empty() {
        let trials = missing.len() as u64;
        output::talk(&format!(
            "{} to run, about {}, {source}",
            plural(trials, "trial"),
            duration(trial_ms * trials)
        ));
    }
    if let Some(campaign) = &plan.campaign {
        output::talk(&format!(
            "blocks are added until throughput ratios are within ± {} %, for trials of {} at most",
            f64::from(campaign.precision_percent.0) / 1e3,
            duration(campaign.budget_ms)
        ));
    }
    Ok(trial_ms)
}

/// Keeps what the next runs on this host, and `prony check`, want to know of a complete run.
fn record(store: &Store, history: &History) -> Result<(), Failure> {
    let is_whole = store.trial_counts().map_err(Failure::host)?.missing() == 0;
    let alarms = if is_whole && store.plan().twin.is_some() {
        identical_servers(store).map_err(Failure::usage)?
    } else {
        None
    };
    let alarms = alarms.map(|found| Alarms {
        comparisons: found.comparisons,
        false_alarms: found.alarms,
    });
    history.record(store, alarms).map_err(Failure::host)
}

/// The exit code of what ends a run.
pub(crate) fn lab_failure(error: &LabError) -> Failure {
    let code = match error {
        LabError::NoClientHost { .. } => ExitStatus::Usage,
        LabError::Fetch { .. } | LabError::External { .. } | LabError::Tables { .. } => {
            ExitStatus::Server
        }
        LabError::UnknownBuild { .. }
        | LabError::Render { .. }
        | LabError::Password { .. }
        | LabError::Preload { .. }
        | LabError::Processor { .. }
        | LabError::Backend(BackendError::Encrypted)
        | LabError::Unequal(_) => ExitStatus::Invalid,
        LabError::Variables(_) => ExitStatus::Defect,
        LabError::Store(_)
        | LabError::Backend(_)
        | LabError::Generator(_)
        | LabError::ClientHost(_)
        | LabError::BackendLost { .. }
        | LabError::Counting { .. }
        | LabError::Memory { .. }
        | LabError::Processors { .. }
        | LabError::Artefact { .. }
        | LabError::Room(_)
        | LabError::Images { .. } => ExitStatus::Host,
    };
    Failure::to(code, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_is_refused_by_the_experiment_or_by_the_host() {
        let code = |error| lab_failure(&LabError::Backend(error)).code;
        assert_eq!(code(BackendError::Encrypted), ExitStatus::Invalid);
        assert_eq!(code(BackendError::TooOld), ExitStatus::Host);
        assert_eq!(code(BackendError::NotPermitted), ExitStatus::Host);
        assert_eq!(
            code(BackendError::Disabled { setting: 2 }),
            ExitStatus::Host
        );
    }
}
