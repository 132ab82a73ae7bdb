//! Merging the parts of a run into one file.
//!
//! The merged file is a function of the plan and of the parts: the same ones give the same bytes. A
//! block is taken from one part, so that its trials are of one host.

mod copy;
mod examine;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use prony_model::Plan;
use rusqlite::{Connection, OpenFlags};

use crate::database::{change, insert_row};
use crate::error::Context as _;
use crate::values::Json;
use crate::{Store, StoreError, schema};
use examine::{Accepted, Common};

/// The outcome of merging parts.
#[derive(Debug, Default)]
pub struct Merged {
    /// Parts from which nothing could be taken, with the reasons.
    pub refused: Vec<RefusedPart>,
    /// Blocks that were measured more than once, counted from 0, with the parts that were not used.
    pub twice: Vec<(u32, String)>,
    /// Planned blocks of which there is no trial.
    pub missing: Vec<u32>,
    /// Blocks whose trials have not all ended.
    pub incomplete: Vec<u32>,
    /// Number of parts from which blocks were taken.
    pub used: usize,
}

/// A part from which nothing could be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPart {
    /// Name of its file.
    pub name: String,
    /// The difference from the run, or the damage.
    pub reason: String,
}

/// Merges `parts` with the plan that they are copies of into the new file `into`, which takes the place
/// of an older one at once and as a whole. Parts that do not belong to the run, or are damaged, are
/// refused by name, and the others are merged.
///
/// # Errors
/// When the plan is none of a run of several hosts, or the new file can't be written.
pub fn merge(plan_file: &Path, parts: &[PathBuf], into: &Path) -> Result<Merged, StoreError> {
    let store = Store::open_read_only(plan_file)?;
    let run = store.run()?;
    if run.uuid.is_none() || !store.trials()?.is_empty() {
        return Err(StoreError::NotSubmitted {
            path: plan_file.to_owned(),
            problem: "it is not the plan of a run of several hosts",
        });
    }
    let plan = store.plan().clone();
    drop(store);
    let mut parts = parts.to_vec();
    parts.sort();
    let mut refused = Vec::new();
    let draft = into.with_extension("draft");
    loop {
        let mut merging = Merging::begin(plan_file, &draft, &plan)?;
        let accepted = merging.accept(&parts, &refused);
        let (accepted, problems): (Vec<_>, Vec<_>) = accepted.into_iter().partition(Result::is_ok);
        let accepted: Vec<Accepted> = accepted.into_iter().flatten().collect();
        let problems = problems.into_iter().filter_map(Result::err);
        let (mut merged, chosen) = choose(&plan, &accepted);
        match merging.copy(&accepted, &chosen)? {
            None => {
                drop(merging);
                replace(&draft, into)?;
                merged.refused = problems.chain(refused).collect();
                merged.refused.sort_by(|a, b| a.name.cmp(&b.name));
                return Ok(merged);
            }
            // Damage that only reading everything shows: the rest is merged without it.
            Some(damaged) => refused.push(damaged),
        }
    }
}

/// The blocks that are taken from each part, by its index.
type Chosen = BTreeMap<usize, BTreeSet<u32>>;

/// Takes every block from the part in which most of its trials ended; of several, from the one of the
/// earliest attempt.
fn choose(plan: &Plan, accepted: &[Accepted]) -> (Merged, Chosen) {
    let mut merged = Merged::default();
    let mut chosen = Chosen::new();
    let planned: BTreeSet<u32> = plan.trials.iter().map(|trial| trial.block).collect();
    for block in planned {
        let trials = plan.trials.iter().filter(|trial| trial.block == block);
        let all = trials.count();
        let mut having: Vec<usize> = (0..accepted.len())
            .filter(|part| accepted[*part].ended.contains_key(&block))
            .collect();
        having.sort_by_key(|part| {
            let part = &accepted[*part];
            (
                all - part.ended[&block].min(all),
                part.row.attempt,
                part.name.clone(),
            )
        });
        let Some((first, others)) = having.split_first() else {
            merged.missing.push(block);
            continue;
        };
        chosen.entry(*first).or_default().insert(block);
        if accepted[*first].ended[&block] < all {
            merged.incomplete.push(block);
        }
        let others = others
            .iter()
            .map(|part| (block, accepted[*part].name.clone()));
        merged.twice.extend(others);
    }
    merged.used = chosen.len();
    (merged, chosen)
}

/// A merged file in the making.
struct Merging<'a> {
    connection: Connection,
    plan: &'a Plan,
}

impl<'a> Merging<'a> {
    /// Copies the plan to the draft, which an earlier Prony may have left.
    fn begin(plan_file: &Path, draft: &Path, plan: &'a Plan) -> Result<Self, StoreError> {
        let copied = fs::copy(plan_file, draft);
        copied.map_err(|source| StoreError::Copy {
            path: draft.to_owned(),
            source,
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection =
            Connection::open_with_flags(draft, flags).map_err(|source| StoreError::Database {
                action: "open the merged file",
                path: draft.to_owned(),
                source,
            })?;
        schema::enforce_foreign_keys(&connection, true)?;
        // A draft that is cut short is made again.
        connection
            .pragma_update(None, "journal_mode", "MEMORY")
            .and_then(|()| connection.pragma_update(None, "synchronous", "OFF"))
            .during("open the merged file", &connection)?;
        Ok(Self { connection, plan })
    }

    /// Examines all parts but those that were refused already, in the order of their names.
    fn accept(
        &self,
        parts: &[PathBuf],
        refused: &[RefusedPart],
    ) -> Vec<Result<Accepted, RefusedPart>> {
        let mut common = Common::default();
        let name = |path: &Path| {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        };
        let parts = parts.iter().map(|path| (path, name(path)));
        let parts = parts.filter(|(_, name)| !refused.iter().any(|other| other.name == *name));
        parts
            .map(|(path, name)| {
                let examined = examine::examine(&self.connection, (path, &name), &mut common);
                examined.map_err(|reason| RefusedPart { name, reason })
            })
            .collect()
    }

    /// Copies the chosen blocks of every part. Returns the first part that can't be read to its end.
    fn copy(
        &mut self,
        accepted: &[Accepted],
        chosen: &Chosen,
    ) -> Result<Option<RefusedPart>, StoreError> {
        let connection = &self.connection;
        let action = "merge the parts";
        // The host on which the plan was made measured nothing.
        change(connection, action, "DELETE FROM host", [])?;
        let mut order: Vec<(usize, &BTreeSet<u32>)> = chosen
            .iter()
            .map(|(part, blocks)| (*part, blocks))
            .collect();
        order.sort_by_key(|(part, _)| {
            let part = &accepted[*part];
            (&part.row.host_name, &part.began_at, &part.name)
        });
        for (part, blocks) in order {
            let part = &accepted[part];
            if let Err(error) = copy::copy(connection, part, blocks) {
                let (name, reason) = (part.name.clone(), format!("it is damaged: {error}"));
                return Ok(Some(RefusedPart { name, reason }));
            }
        }
        for (index, part) in accepted.iter().enumerate() {
            let nothing = BTreeSet::new();
            let used = chosen.get(&index).unwrap_or(&nothing);
            let row = &part.row;
            insert_row! { connection, action, part {
                name: part.name, host_name: row.host_name, attempt: row.attempt, job: row.job,
                prony_build: row.prony_build, blocks: Json(&row.blocks), used: Json(&used),
            } }?;
        }
        self.end(accepted, chosen)?;
        Ok(None)
    }

    /// The run has ended where nothing is missing.
    fn end(&self, accepted: &[Accepted], chosen: &Chosen) -> Result<(), StoreError> {
        let ended: usize = chosen
            .iter()
            .flat_map(|(part, blocks)| blocks.iter().map(|block| accepted[*part].ended[block]))
            .sum();
        let last = chosen
            .keys()
            .filter_map(|part| accepted[*part].ended_at.as_ref());
        let last = last.max().filter(|_| ended == self.plan.trials.len());
        let sql = "UPDATE run SET ended_at = ?1";
        change(&self.connection, "merge the parts", sql, [last]).map(drop)
    }
}

/// Puts the draft in the place of the merged file, after it is on the disk.
fn replace(draft: &Path, into: &Path) -> Result<(), StoreError> {
    let synced = File::open(draft).and_then(|file| file.sync_all());
    let renamed = synced.and_then(|()| fs::rename(draft, into));
    renamed.map_err(|source: io::Error| StoreError::Copy {
        path: into.to_owned(),
        source,
    })
}
