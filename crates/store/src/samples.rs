//! Samples of counters, of which no more is written than has to be, and absences.

mod read;

use std::borrow::Cow;
use std::collections::BTreeMap;

use prony_model::{Counter, Gap, Moment, Plan, Sample, Source};
use rusqlite::{Row, Transaction, params};

pub use self::read::{Counters, FlatSample};
use crate::database::{exists, insert, insert_row, read_row, rows};
use crate::store::LastEnd;
use crate::trials::require_running;
use crate::values::{Bits, Word, word};
use crate::{Store, StoreError, TrialId};

impl Store {
    /// Records the samples of a step, all at once. Of an end sample that follows its start sample, and
    /// of a start sample that follows the end of an earlier step of the trial, what the server said of
    /// itself ([`Source::Status`], [`Source::Innodb`]) is written only where it differs: most of those
    /// hundreds of counters stand still.
    ///
    /// # Errors
    /// When the trial is not running, samples of the step are on record already, the step is not
    /// in the plan, or a time exceeds 2⁶³ − 1; nothing is recorded then. Values can be any.
    pub fn record_samples(
        &mut self,
        trial: TrialId,
        step: usize,
        samples: &[Sample],
    ) -> Result<(), StoreError> {
        self.write_samples(trial, Some(step), samples)
    }

    /// Records the samples of the load that a trial begins with, as those of a step.
    ///
    /// # Errors
    /// When the trial is not running, samples of its load are on record already, or a time exceeds
    /// 2⁶³ − 1; nothing is recorded then.
    pub fn record_load_samples(
        &mut self,
        trial: TrialId,
        samples: &[Sample],
    ) -> Result<(), StoreError> {
        self.write_samples(trial, None, samples)
    }

    /// Writes the samples of a step, or of the load.
    fn write_samples(
        &mut self,
        trial: TrialId,
        step: Option<usize>,
        samples: &[Sample],
    ) -> Result<(), StoreError> {
        let before = self.last_end.take().filter(|last| last.trial == trial.0);
        let end = self.write("record the samples", |transaction, plan| {
            require_running(transaction, trial)?;
            require_unsampled(transaction, plan, trial, step)?;
            let mut writer = Writer::new(transaction)?;
            let mut before = before.as_ref().map(|last| (last.id, &last.sample));
            let (mut start, mut end) = (None, None);
            for (position, sample) in samples.iter().enumerate() {
                let base = match sample.moment {
                    Moment::Start => before.take(),
                    Moment::Period => None,
                    Moment::End => start,
                };
                let id = writer.write((trial, step, position), sample, base)?;
                match sample.moment {
                    Moment::Start => start = start.or(Some((id, sample))),
                    Moment::Period => {}
                    Moment::End => end = Some((id, sample)),
                }
            }
            Ok(end.map(|(id, sample)| LastEnd {
                trial: trial.0,
                id,
                sample: sample.clone(),
            }))
        })?;
        self.last_end = end;
        Ok(())
    }

    /// Records an absence of a trial, or of the whole run. One that is on record already is not
    /// recorded again. Also for trials that have ended.
    ///
    /// # Errors
    /// When there is no such trial.
    pub fn record_absence(&mut self, trial: Option<TrialId>, gap: &Gap) -> Result<(), StoreError> {
        self.write("record unreadable sources", |transaction, _| {
            insert_row! { transaction, "record unreadable sources", absence {
                trial_id: trial, source: gap.source.name(), reason: gap.reason,
            } " ON CONFLICT DO NOTHING" }
        })
    }

    /// The absences of the run (`None`) and of its trials, except discarded and excluded ones, in
    /// the order of recording.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn absences(&self) -> Result<Vec<(Option<TrialId>, Gap)>, StoreError> {
        rows(
            &self.connection,
            "read the unreadable sources",
            "SELECT trial_id, source, absence.reason
             FROM absence LEFT JOIN trial ON trial.id = trial_id
             WHERE state IS NULL OR state NOT IN ('discarded', 'excluded') ORDER BY absence.id",
            [],
            |row| Ok((row.get(0)?, gap(row, 1)?)),
        )
    }
}

/// True where a sample leaves out values that are as in the one that it refers to.
const fn is_shared(source: Source) -> bool {
    matches!(source, Source::Status | Source::Innodb)
}

/// Checks that no samples of a step, or of the load, are on record.
fn require_unsampled(
    transaction: &Transaction<'_>,
    plan: &Plan,
    trial: TrialId,
    step: Option<usize>,
) -> Result<(), StoreError> {
    let sampled = exists(
        transaction,
        "look up the samples",
        "SELECT 1 FROM sample WHERE trial_id = ?1 AND step_id IS ?2",
        params![trial, step],
    )?;
    if !sampled {
        return Ok(());
    }
    let of = match step.and_then(|step| plan.steps.get(step)) {
        Some(step) => format!("step `{}` at {} clients", step.name, step.own().clients),
        None => "the load".to_owned(),
    };
    Err(StoreError::SampledTwice { trial: trial.0, of })
}

/// Writes the samples of a step.
struct Writer<'a> {
    transaction: &'a Transaction<'a>,
    /// Their numbers in the file.
    counters: BTreeMap<Counter, i64>,
}

impl<'a> Writer<'a> {
    fn new(transaction: &'a Transaction<'a>) -> Result<Self, StoreError> {
        let counters = rows(
            transaction,
            "read the counters",
            "SELECT source, name, id FROM counter",
            [],
            |row| Ok((counter(row, 0)?, row.get(2)?)),
        )?;
        Ok(Self {
            transaction,
            counters: counters.into_iter().collect(),
        })
    }

    /// Writes one sample of a trial and step at its position, less what it shares with `base`, and
    /// returns its number.
    fn write(
        &mut self,
        (trial, step, position): (TrialId, Option<usize>, usize),
        sample: &Sample,
        base: Option<(i64, &Sample)>,
    ) -> Result<i64, StoreError> {
        let id = insert(
            self.transaction,
            "record a sample",
            "INSERT INTO sample (trial_id, step_id, position, moment, at_ns, took_ns, base_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                trial,
                step,
                position,
                Word(&sample.moment),
                sample.at_ns,
                sample.took_ns,
                base.map(|(id, _)| id)
            ],
        )?;
        self.write_values(id, sample, base.map(|(_, base)| base))?;
        self.write_gaps(id, &sample.gaps)?;
        Ok(id)
    }

    /// Writes the values of a sample; of those that it shares with `base`, what differs, and null
    /// for those that it lacks.
    fn write_values(
        &mut self,
        id: i64,
        sample: &Sample,
        base: Option<&Sample>,
    ) -> Result<(), StoreError> {
        let shared = |counter: &Counter| {
            let values = base.filter(|_| is_shared(counter.source))?;
            values.values.get(counter)
        };
        for (counter, value) in &sample.values {
            if shared(counter) != Some(value) {
                self.write_value(id, counter, Some(*value))?;
            }
        }
        let lacked = base.into_iter().flat_map(|base| base.values.keys());
        let lacked = lacked.filter(|counter| !sample.values.contains_key(*counter));
        for counter in lacked.filter(|counter| is_shared(counter.source)) {
            self.write_value(id, counter, None)?;
        }
        Ok(())
    }

    fn write_value(
        &mut self,
        id: i64,
        counter: &Counter,
        value: Option<u64>,
    ) -> Result<(), StoreError> {
        let counter = self.number(counter)?;
        insert_row! { self.transaction, "record a value of a counter", sample_value {
            sample_id: id, counter_id: counter, value: value.map(Bits),
        } }
    }

    /// The number of a counter, which is given one where it has none yet.
    fn number(&mut self, counter: &Counter) -> Result<i64, StoreError> {
        if let Some(number) = self.counters.get(counter) {
            return Ok(*number);
        }
        let number = insert(
            self.transaction,
            "record a counter",
            "INSERT INTO counter (source, name) VALUES (?1, ?2)",
            [counter.source.name(), &*counter.name],
        )?;
        self.counters.insert(counter.clone(), number);
        Ok(number)
    }

    fn write_gaps(&self, id: i64, gaps: &[Gap]) -> Result<(), StoreError> {
        gaps.iter().enumerate().try_for_each(|(position, gap)| {
            insert_row! { self.transaction, "record a gap of a sample", sample_gap {
                sample_id: id, position: position, source: gap.source.name(), reason: gap.reason,
            } }
        })
    }
}

/// Source and name, in two columns from `first` on.
fn counter(row: &Row<'_>, first: usize) -> rusqlite::Result<Counter> {
    Ok(Counter {
        source: word(row, first)?,
        name: Cow::Owned(row.get(first + 1)?),
    })
}

/// Source and reason, in two columns from `first` on.
fn gap(row: &Row<'_>, first: usize) -> rusqlite::Result<Gap> {
    read_row! { row, first => Gap { source as Word<_>, reason } }
}
