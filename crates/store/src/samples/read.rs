//! Reading samples, all of a trial at once: a value names its counter by its place in a list.

use std::collections::HashMap;
use std::ops::Range;

use prony_model::{Counter, Gap, Moment, Sample, Source, StepSamples};
use rusqlite::{Row, Transaction, TransactionBehavior};

use super::{counter, gap, is_shared};
use crate::database::rows;
use crate::error::Context as _;
use crate::values::{Bits, word};
use crate::{Store, StoreError, TrialId};

/// The counters of a file, in their order: a [`FlatSample`] has their values by their places here.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    all: Vec<Counter>,
    /// The place of each, by its number in the file.
    places: Vec<Option<usize>>,
}

/// Everything read at one moment of a step, or of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlatSample {
    /// Index of the step in the plan; `None` for the load that the trial begins with.
    pub step: Option<usize>,
    /// The moment of the step.
    pub moment: Moment,
    /// The time when what is exact was read, in nanoseconds of the host's monotonic clock.
    pub at_ns: u64,
    /// Time that reading all of it took, in nanoseconds.
    pub took_ns: u64,
    /// Values by the places of their counters; empty if they were not asked for.
    pub values: Vec<Option<u64>>,
    /// Sources of which a usual value could not be read, with reasons.
    pub gaps: Vec<Gap>,
    position: i64,
}

/// A sample while it is read.
struct Draft {
    id: i64,
    /// The sample whose values it does not repeat.
    base: Option<i64>,
    /// The places of the counters that that one has, and this one has not.
    lacking: Vec<usize>,
    sample: FlatSample,
}

impl Counters {
    /// The counters, ascending.
    pub fn all(&self) -> &[Counter] {
        &self.all
    }

    /// The place of a counter; `None` if no sample of the file has it.
    pub fn place(&self, counter: &Counter) -> Option<usize> {
        self.all.binary_search(counter).ok()
    }

    /// The places of the counters of a source.
    pub fn of_source(&self, source: Source) -> Range<usize> {
        let begin = self.all.partition_point(|counter| counter.source < source);
        let end = self.all.partition_point(|counter| counter.source <= source);
        begin..end
    }
}

impl FlatSample {
    /// The value of the counter at a place.
    pub fn value(&self, place: usize) -> Option<u64> {
        *self.values.get(place)?
    }
}

impl Store {
    /// The counters of all samples so far.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn counters(&self) -> Result<Counters, StoreError> {
        let mut numbered: Vec<(Counter, usize)> = rows(
            &self.connection,
            "read the counters",
            "SELECT source, name, id FROM counter",
            [],
            |row| Ok((counter(row, 0)?, row.get(2)?)),
        )?;
        numbered.sort_unstable();
        let last = numbered.iter().map(|(_, number)| number + 1).max();
        let mut places = vec![None; last.unwrap_or(0)];
        for (place, (_, number)) in numbered.iter().enumerate() {
            places[*number] = Some(place);
        }
        let all = numbered.into_iter().map(|(counter, _)| counter);
        Ok(Counters {
            all: all.collect(),
            places,
        })
    }

    /// The samples of a trial, of its load and of all its steps, by step and in the order of time. Without `periods`, only
    /// those at the edges of the measured time have values.
    ///
    /// # Errors
    /// When the file can't be read, or is damaged.
    pub fn flat_samples(
        &self,
        trial: TrialId,
        counters: &Counters,
        periods: bool,
    ) -> Result<Vec<FlatSample>, StoreError> {
        // One transaction, because without one the file is locked for each query.
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)
                .during("read the samples", &self.connection)?;
        let mut drafts = self.drafts(trial)?;
        let are_wanted = |draft: &&mut Draft| periods || draft.sample.moment != Moment::Period;
        for draft in drafts.iter_mut().filter(are_wanted) {
            self.read_values(draft, counters)?;
        }
        self.read_gaps(trial, &mut drafts)?;
        transaction
            .finish()
            .during("read the samples", &self.connection)?;
        share(&mut drafts, counters)
            .map_err(|problem| StoreError::damaged(&self.connection, "sample.base_id", problem))?;
        let samples = drafts.into_iter().map(|draft| draft.sample);
        let mut samples: Vec<FlatSample> = samples.collect();
        samples.sort_by_key(|sample| (sample.step, sample.at_ns, sample.position));
        Ok(samples)
    }

    /// The samples of one step in the order of time, as they were recorded.
    ///
    /// # Errors
    /// When the file can't be read, or is damaged.
    pub fn samples(&self, trial: TrialId, step: usize) -> Result<StepSamples, StoreError> {
        self.samples_of(trial, Some(step))
    }

    /// The samples of the load that a trial begins with, in the order of time, as they were
    /// recorded.
    ///
    /// # Errors
    /// When the file can't be read, or is damaged.
    pub fn load_samples(&self, trial: TrialId) -> Result<StepSamples, StoreError> {
        self.samples_of(trial, None)
    }

    fn samples_of(&self, trial: TrialId, step: Option<usize>) -> Result<StepSamples, StoreError> {
        let counters = self.counters()?;
        let samples = self.flat_samples(trial, &counters, true)?.into_iter();
        let of_step = samples.filter(|sample| sample.step == step);
        let named = of_step.map(|sample| {
            let values = counters.all.iter().zip(&sample.values);
            let values = values.filter_map(|(counter, value)| Some((counter.clone(), (*value)?)));
            Sample {
                moment: sample.moment,
                at_ns: sample.at_ns,
                took_ns: sample.took_ns,
                values: values.collect(),
                gaps: sample.gaps,
            }
        });
        Ok(StepSamples(named.collect()))
    }

    /// Samples without values and gaps, by their numbers in the file.
    fn drafts(&self, trial: TrialId) -> Result<Vec<Draft>, StoreError> {
        let mut drafts = rows(
            &self.connection,
            "read the samples",
            "SELECT id, step_id, position, base_id, moment, at_ns, took_ns FROM sample
             WHERE trial_id = ?1",
            [trial],
            |row| {
                Ok(Draft {
                    id: row.get(0)?,
                    base: row.get(3)?,
                    lacking: Vec::new(),
                    sample: FlatSample {
                        step: row.get(1)?,
                        position: row.get(2)?,
                        moment: word(row, 4)?,
                        at_ns: row.get(5)?,
                        took_ns: row.get(6)?,
                        values: Vec::new(),
                        gaps: Vec::new(),
                    },
                })
            },
        )?;
        drafts.sort_unstable_by_key(|draft| draft.id);
        Ok(drafts)
    }

    /// Reads the values that the file has for a sample.
    fn read_values(&self, draft: &mut Draft, counters: &Counters) -> Result<(), StoreError> {
        draft.sample.values.resize(counters.all.len(), None);
        let read = |row: &Row<'_>| {
            let number: usize = row.get(0)?;
            if let Some(place) = counters.places.get(number).copied().flatten() {
                match row.get(1)? {
                    Some(Bits(value)) => draft.sample.values[place] = Some(value),
                    None => draft.lacking.push(place),
                }
            }
            Ok(())
        };
        // Sample by sample, because each column of these millions of rows counts: a join has to say
        // which sample a row is of.
        rows(
            &self.connection,
            "read the values of samples",
            "SELECT counter_id, value FROM sample_value WHERE sample_id = ?1",
            [draft.id],
            read,
        )
        .map(drop)
    }

    fn read_gaps(&self, trial: TrialId, drafts: &mut [Draft]) -> Result<(), StoreError> {
        let read = |row: &Row<'_>| {
            let id: i64 = row.get(0)?;
            if let Ok(place) = drafts.binary_search_by_key(&id, |draft| draft.id) {
                drafts[place].sample.gaps.push(gap(row, 1)?);
            }
            Ok(())
        };
        rows(
            &self.connection,
            "read the gaps of samples",
            "SELECT sample_id, source, reason FROM sample JOIN sample_gap ON sample_id = id
             WHERE trial_id = ?1 ORDER BY sample_id, sample_gap.position",
            [trial],
            read,
        )
        .map(drop)
    }
}

/// Gives samples the values of their bases that they do not repeat, or says why that can't be. A base
/// has a lower number than the samples that refer to it.
fn share(drafts: &mut [Draft], counters: &Counters) -> Result<(), String> {
    let shared = counters
        .all
        .partition_point(|counter| !is_shared(counter.source));
    let by_id: HashMap<i64, usize> = drafts.iter().map(|draft| draft.id).zip(0..).collect();
    for place in 0..drafts.len() {
        let Some(base) = drafts[place].base else {
            continue;
        };
        let (before, rest) = drafts.split_at_mut(place);
        let draft = &mut rest[0];
        let base = by_id.get(&base).and_then(|&base| before.get(base));
        let base = base.ok_or_else(|| {
            let id = draft.base.unwrap_or_default();
            format!("{id} is no earlier sample of the same trial")
        })?;
        let Some(values) = base.sample.values.get(shared..) else {
            continue;
        };
        draft.sample.values.resize(counters.all.len(), None);
        for (value, base) in draft.sample.values[shared..].iter_mut().zip(values) {
            *value = value.or(*base);
        }
        for &lacking in &draft.lacking {
            draft.sample.values[lacking] = None;
        }
    }
    Ok(())
}
