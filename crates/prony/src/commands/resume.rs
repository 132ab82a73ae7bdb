//! `prony resume`: continue an interrupted run.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use prony_model::CalibratedHost;
use prony_servers::Catalogue;
use prony_store::{Store, StoreError};

use crate::cli::{CatalogueArgs, ClientArgs, ImagesLimitArgs, ResumeArgs};
use crate::commands::complete::complete;
use crate::commands::report::result_file;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::words::plural;

/// Runs what is missing and prints the report.
pub(crate) fn resume(args: &ResumeArgs, signals: &Signals) -> Result<(), Failure> {
    Reopened::open(&args.run, &args.client, &args.images, &args.catalogue)?.complete(signals)
}

/// A stored run that is continued on this host.
pub(crate) struct Reopened {
    pub(crate) store: Store,
    folder: PathBuf,
    catalogue: Catalogue,
    surroundings: Surroundings,
}

impl Reopened {
    /// Opens a run to continue it: failed trials run again, and trials are of this host from now
    /// on.
    pub(crate) fn open(
        run: &Path,
        client: &ClientArgs,
        images: &ImagesLimitArgs,
        catalogue: &CatalogueArgs,
    ) -> Result<Self, Failure> {
        let catalogue = definitions::catalogue(catalogue)?;
        let path = result_file(run)?;
        let mut store = Store::open(&path).map_err(Failure::usage)?;
        if !store.parts().map_err(Failure::host)?.is_empty() {
            let message = "the run was merged from parts, and is merged again from them only";
            let again = format!(
                "measure what is missing with: prony submit {}",
                run.display()
            );
            return Err(Failure::new(ExitStatus::Usage, message).with_hint(again));
        }
        // The reason of a failure may be mended by now.
        let again = store.retry_failed().map_err(Failure::host)?;
        if again > 0 {
            output::talk(&format!("running {} again", plural(again, "failed trial")));
        }
        let surroundings = Surroundings::find()?.with_limit(images)?;
        let client_host = store.client_hosts().map_err(Failure::host)?.pop();
        let usual = client_host.as_ref().map(|host| host.name.as_str());
        let surroundings = surroundings.with_client(client, store.plan(), usual)?;
        let host_json = serde_json::to_string(&surroundings.host).map_err(Failure::defect)?;
        store
            .record_host(&host_json, Timestamp::now())
            .map_err(Failure::host)?;
        if let Some(words) = other_host(&store).map_err(Failure::host)? {
            output::notice(&words);
        }
        Ok(Self {
            store,
            folder: path.parent().unwrap_or(run).to_owned(),
            catalogue,
            surroundings,
        })
    }

    /// Runs what is missing and prints the report.
    pub(crate) fn complete(mut self, signals: &Signals) -> Result<(), Failure> {
        let end = complete(
            &mut self.store,
            &self.folder,
            &self.catalogue,
            &self.surroundings,
            signals,
        );
        end.map_err(|stopped| stopped.failure)
    }
}

/// Names the last host on record if the run began on another one.
fn other_host(store: &Store) -> Result<Option<String>, StoreError> {
    let same = store.same_hosts()?;
    if same.first() == same.last() {
        return Ok(None);
    }
    let hosts = store.hosts()?;
    let words = |json: &str| {
        let facts = serde_json::from_str::<CalibratedHost>(json);
        facts.map_or("an unknown host".to_owned(), |host| {
            format!(
                "{}, {}, {}",
                host.cpu_model.as_deref().unwrap_or("an unknown processor"),
                plural(host.cpus.into(), "processor"),
                host.kernel.as_deref().unwrap_or("an unknown kernel")
            )
        })
    };
    let ends = hosts.first().zip(hosts.last());
    Ok(ends.map(|(first, last)| {
        format!(
            "this host ({}) is not the one on which the run began ({}): its blocks are its own, \
             and it completes none that was begun elsewhere",
            words(&last.facts_json),
            words(&first.facts_json)
        )
    }))
}
