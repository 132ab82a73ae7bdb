//! Reading samples.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Counter, Sample, StepSamples};
use rusqlite::{Row, params};

use super::{counter, gap, is_shared};
use crate::database::rows;
use crate::values::{Bits, word};
use crate::{Store, StoreError, TrialId};

/// The samples of a step by their number in the file, while they are read.
type Drafts = BTreeMap<i64, Draft>;

/// A sample while it is read.
struct Draft {
    position: i64,
    /// The sample whose values it does not repeat.
    base: Option<i64>,
    /// The counters that that one has, and this one has not.
    lacking: BTreeSet<Counter>,
    sample: Sample,
}

impl Store {
    /// The samples of one step in the order of time, as they were recorded.
    ///
    /// # Errors
    /// When the file can't be read, or is damaged.
    pub fn samples(&self, trial: TrialId, step: usize) -> Result<StepSamples, StoreError> {
        let mut drafts = self.drafts(trial, step)?;
        self.read_values(trial, step, &mut drafts)?;
        self.read_gaps(trial, step, &mut drafts)?;
        share(&mut drafts)
            .map_err(|problem| StoreError::damaged(&self.connection, "sample.base_id", problem))?;
        let mut drafts: Vec<_> = drafts.into_values().collect();
        drafts.sort_by_key(|draft| (draft.sample.at_ns, draft.position));
        let samples = drafts.into_iter().map(|draft| draft.sample);
        Ok(StepSamples(samples.collect()))
    }

    /// Samples without values and gaps.
    fn drafts(&self, trial: TrialId, step: usize) -> Result<Drafts, StoreError> {
        let drafts = rows(
            &self.connection,
            "read the samples",
            "SELECT id, position, base_id, moment, at_ns, took_ns FROM sample
             WHERE trial_id = ?1 AND step_id = ?2",
            params![trial, step],
            |row| {
                let draft = Draft {
                    position: row.get(1)?,
                    base: row.get(2)?,
                    lacking: BTreeSet::new(),
                    sample: Sample {
                        moment: word(row, 3)?,
                        at_ns: row.get(4)?,
                        took_ns: row.get(5)?,
                        values: BTreeMap::new(),
                        gaps: Vec::new(),
                    },
                };
                Ok((row.get(0)?, draft))
            },
        )?;
        Ok(drafts.into_iter().collect())
    }

    /// Reads the values that the file has for each sample.
    fn read_values(
        &self,
        trial: TrialId,
        step: usize,
        drafts: &mut Drafts,
    ) -> Result<(), StoreError> {
        let read = |row: &Row<'_>| {
            // A run that goes on may have recorded samples since the drafts were read.
            let Some(draft) = drafts.get_mut(&row.get(0)?) else {
                return Ok(());
            };
            let counter = counter(row, 1)?;
            match row.get(3)? {
                Some(Bits(value)) => drop(draft.sample.values.insert(counter, value)),
                None => drop(draft.lacking.insert(counter)),
            }
            Ok(())
        };
        rows(
            &self.connection,
            "read the values of samples",
            "SELECT sample_id, source, name, value
             FROM sample
                 JOIN sample_value ON sample_id = sample.id
                 JOIN counter ON counter.id = counter_id
             WHERE trial_id = ?1 AND step_id = ?2",
            params![trial, step],
            read,
        )
        .map(drop)
    }

    fn read_gaps(
        &self,
        trial: TrialId,
        step: usize,
        drafts: &mut Drafts,
    ) -> Result<(), StoreError> {
        let read = |row: &Row<'_>| {
            if let Some(draft) = drafts.get_mut(&row.get(0)?) {
                draft.sample.gaps.push(gap(row, 1)?);
            }
            Ok(())
        };
        rows(
            &self.connection,
            "read the gaps of samples",
            "SELECT sample_id, source, reason FROM sample JOIN sample_gap ON sample_id = id
             WHERE trial_id = ?1 AND step_id = ?2 ORDER BY sample_id, sample_gap.position",
            params![trial, step],
            read,
        )
        .map(drop)
    }
}

/// Gives samples the values of their bases that they do not repeat, or says why that can't be.
fn share(drafts: &mut Drafts) -> Result<(), String> {
    let based: Vec<_> = drafts
        .iter()
        .filter_map(|(id, draft)| Some((*id, draft.base?)))
        .collect();
    for (id, base) in based {
        let base = drafts
            .get(&base)
            .ok_or_else(|| format!("{base} is no sample of the same step"))?;
        let values = base.sample.values.iter();
        let shared: Vec<_> = values
            .filter(|(counter, _)| is_shared(counter.source))
            .map(|(counter, value)| (counter.clone(), *value))
            .collect();
        let Some(draft) = drafts.get_mut(&id) else {
            continue;
        };
        for (counter, value) in shared {
            if !draft.lacking.contains(&counter) {
                draft.sample.values.entry(counter).or_insert(value);
            }
        }
    }
    Ok(())
}
