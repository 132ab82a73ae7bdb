//! Samples of counters, of which no more is written than has to be, and what could not be read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use prony_model::{Counter, Gap, Moment, Sample, Source, StepSamples};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use crate::error::Context as _;
use crate::read::word;
use crate::trials::require_running;
use crate::values::{Bits, Word};
use crate::{Store, StoreError, TrialId};

/// The first version of the schema that has samples, absences and kinds of trials.
pub(crate) const SINCE: i64 = 5;

/// What one sample holds.
type Values = BTreeMap<Counter, u64>;

impl Store {
    /// Records what was read at one moment of a step. Of an end sample whose start sample is on
    /// record, what the server said of itself ([`Source::Status`], [`Source::Innodb`]) is written
    /// only where it differs: most of those hundreds of counters stand still.
    ///
    /// # Errors
    /// When the trial is not running, the step is not in the plan, or a time exceeds 2⁶³ − 1.
    /// Values can be any.
    pub fn record_sample(
        &mut self,
        trial: TrialId,
        step: usize,
        sample: &Sample,
    ) -> Result<(), StoreError> {
        self.write("record a sample", |transaction, _| {
            require_running(transaction, trial)?;
            let base = match sample.moment {
                Moment::Start | Moment::Period => None,
                Moment::End => start_of(transaction, trial, step)?,
            };
            let id = insert_sample(transaction, (trial, step), sample, base)?;
            insert_values(transaction, id, sample, base)?;
            insert_gaps(transaction, id, &sample.gaps)
        })
    }

    /// The samples of one step in the order of time, as they were recorded. Those of files of
    /// older versions have a few counters at the edges only, and took 0 ns.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn samples(&self, trial: TrialId, step: usize) -> Result<StepSamples, StoreError> {
        if self.version < SINCE {
            return self.older_samples(trial, step);
        }
        let samples = self.rows(
            "read the samples",
            "SELECT id, base_id, moment, at_ns, took_ns FROM sample
             WHERE trial_id = ?1 AND step_id = ?2 ORDER BY at_ns, position",
            params![trial.0, step],
            |row| {
                let sample = Sample {
                    moment: word(row, 2)?,
                    at_ns: row.get(3)?,
                    took_ns: row.get(4)?,
                    values: Values::new(),
                    gaps: Vec::new(),
                };
                Ok((row.get(0)?, row.get(1)?, sample))
            },
        )?;
        let filled = samples.into_iter().map(|(id, base, sample)| {
            Ok(Sample {
                values: values(&self.connection, id, base)?,
                gaps: self.gaps(id)?,
                ..sample
            })
        });
        filled.collect::<Result<_, _>>().map(StepSamples)
    }

    fn gaps(&self, sample: i64) -> Result<Vec<Gap>, StoreError> {
        self.rows(
            "read the gaps of a sample",
            "SELECT source, reason FROM sample_gap WHERE sample_id = ?1 ORDER BY position",
            [sample],
            |row| gap(row, 0),
        )
    }

    /// Records what a trial, or the whole run, is without, and why. What is on record already is
    /// not recorded again. Also for trials that have ended.
    ///
    /// # Errors
    /// When there is no such trial.
    pub fn record_absence(&mut self, trial: Option<TrialId>, gap: &Gap) -> Result<(), StoreError> {
        self.write("record what could not be read", |transaction, _| {
            transaction
                .execute(
                    "INSERT INTO absence (trial_id, source, reason) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO NOTHING",
                    params![
                        trial.map(|trial| trial.0),
                        gap.source.name(),
                        gap.reason.as_str()
                    ],
                )
                .during("record what could not be read")
                .map(drop)
        })
    }

    /// What the run (`None`) and its trials are without, but for discarded trials, in the order of
    /// recording.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn absences(&self) -> Result<Vec<(Option<TrialId>, Gap)>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read what could not be read",
            "SELECT trial_id, source, absence.reason
             FROM absence LEFT JOIN trial ON trial.id = trial_id
             WHERE state IS NULL OR state <> 'discarded' ORDER BY absence.id",
            [],
            |row| Ok((row.get::<_, Option<i64>>(0)?.map(TrialId), gap(row, 1)?)),
        )
    }

    /// The readings of files before there were samples, as the migration makes samples of them.
    fn older_samples(&self, trial: TrialId, step: usize) -> Result<StepSamples, StoreError> {
        let readings = self.rows(
            "read the readings",
            "SELECT at_ns, source, name, value FROM reading
             WHERE trial_id = ?1 AND step_id = ?2 AND source IN ('server', 'host') AND value >= 0
             ORDER BY at_ns",
            params![trial.0, step],
            |row| {
                let (source, name): (String, String) = (row.get(1)?, row.get(2)?);
                let source = match (&*source, &*name) {
                    ("host", _) => Source::Host,
                    (_, "resident_bytes" | "threads") => Source::Memory,
                    _ => Source::Process,
                };
                let name = Cow::Owned(name);
                Ok((row.get(0)?, Counter { source, name }, row.get(3)?))
            },
        )?;
        let mut moments: BTreeMap<u64, Values> = BTreeMap::new();
        for (at_ns, counter, value) in readings {
            moments.entry(at_ns).or_default().insert(counter, value);
        }
        let last = moments.len().saturating_sub(1);
        let samples = moments.into_iter().enumerate();
        let samples = samples.map(|(position, (at_ns, values))| Sample {
            moment: match position {
                0 => Moment::Start,
                position if position == last => Moment::End,
                _ => Moment::Period,
            },
            at_ns,
            took_ns: 0,
            values,
            gaps: Vec::new(),
        });
        Ok(StepSamples(samples.collect()))
    }
}

/// Whether an end sample leaves out what is as in the start sample.
const fn is_shared(source: Source) -> bool {
    matches!(source, Source::Status | Source::Innodb)
}

/// The start sample of a step, where it is on record.
fn start_of(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
) -> Result<Option<i64>, StoreError> {
    transaction
        .prepare_cached(
            "SELECT id FROM sample WHERE trial_id = ?1 AND step_id = ?2 AND moment = 'start'
             ORDER BY position LIMIT 1",
        )
        .and_then(|mut statement| {
            statement
                .query_row(params![trial.0, step], |row| row.get(0))
                .optional()
        })
        .during("look up a sample")
}

fn insert_sample(
    transaction: &Transaction<'_>,
    (trial, step): (TrialId, usize),
    sample: &Sample,
    base: Option<i64>,
) -> Result<i64, StoreError> {
    transaction
        .prepare_cached(
            "INSERT INTO sample (trial_id, step_id, position, moment, at_ns, took_ns, base_id)
             SELECT ?1, ?2, count(*), ?3, ?4, ?5, ?6
             FROM sample WHERE trial_id = ?1 AND step_id = ?2",
        )
        .and_then(|mut statement| {
            statement.insert(params![
                trial.0,
                step,
                Word(&sample.moment),
                sample.at_ns,
                sample.took_ns,
                base
            ])
        })
        .during("record a sample")
}

/// Writes the values of a sample; of those that it shares with `base`, what differs, and null for
/// those that it lacks.
fn insert_values(
    transaction: &Transaction<'_>,
    id: i64,
    sample: &Sample,
    base: Option<i64>,
) -> Result<(), StoreError> {
    let mut shared = match base {
        Some(base) => shared_values(transaction, base)?,
        None => Values::new(),
    };
    for (counter, value) in &sample.values {
        if shared.remove(counter) != Some(*value) {
            insert_value(transaction, id, counter, Some(*value))?;
        }
    }
    for counter in shared.keys() {
        insert_value(transaction, id, counter, None)?;
    }
    Ok(())
}

fn insert_value(
    transaction: &Transaction<'_>,
    id: i64,
    counter: &Counter,
    value: Option<u64>,
) -> Result<(), StoreError> {
    let (source, name) = (counter.source.name(), &*counter.name);
    let insert = || {
        transaction
            .prepare_cached(
                "INSERT INTO sample_value (sample_id, counter_id, value)
                 SELECT ?1, id, ?2 FROM counter WHERE source = ?3 AND name = ?4",
            )?
            .execute(params![id, value.map(Bits), source, name])
    };
    let known = insert().during("record a value of a counter")? > 0;
    if known {
        return Ok(());
    }
    transaction
        .prepare_cached("INSERT INTO counter (source, name) VALUES (?1, ?2)")
        .and_then(|mut statement| statement.execute([source, name]))
        .and_then(|_| insert())
        .during("record a value of a counter")
        .map(drop)
}

fn insert_gaps(transaction: &Transaction<'_>, id: i64, gaps: &[Gap]) -> Result<(), StoreError> {
    for (position, gap) in gaps.iter().enumerate() {
        transaction
            .prepare_cached(
                "INSERT INTO sample_gap (sample_id, position, source, reason)
                 VALUES (?1, ?2, ?3, ?4)",
            )
            .and_then(|mut statement| {
                statement.execute(params![id, position, gap.source.name(), gap.reason])
            })
            .during("record a gap of a sample")?;
    }
    Ok(())
}

/// The values of a sample, those included that it shares with `base`.
fn values(connection: &Connection, id: i64, base: Option<i64>) -> Result<Values, StoreError> {
    let mut values = match base {
        Some(base) => shared_values(connection, base)?,
        None => Values::new(),
    };
    for (counter, value) in written(connection, id)? {
        match value {
            Some(value) => values.insert(counter, value),
            None => values.remove(&counter),
        };
    }
    Ok(values)
}

/// The values of a start sample that its end sample does not repeat.
fn shared_values(connection: &Connection, start: i64) -> Result<Values, StoreError> {
    let written = written(connection, start)?.into_iter();
    let shared = written.filter(|(counter, _)| is_shared(counter.source));
    Ok(shared
        .filter_map(|(counter, value)| Some((counter, value?)))
        .collect())
}

/// What stands in the file for one sample.
fn written(connection: &Connection, id: i64) -> Result<Vec<(Counter, Option<u64>)>, StoreError> {
    connection
        .prepare_cached(
            "SELECT source, name, value
             FROM sample_value JOIN counter ON counter.id = counter_id WHERE sample_id = ?1",
        )
        .and_then(|mut statement| {
            let row = |row: &Row<'_>| {
                let counter = Counter {
                    source: source(row, 0)?,
                    name: Cow::Owned(row.get(1)?),
                };
                let value = row.get::<_, Option<Bits>>(2)?;
                Ok((counter, value.map(|Bits(value)| value)))
            };
            statement.query_map([id], row)?.collect()
        })
        .during("read the values of a sample")
}

/// Source and reason, in two columns from `first` on.
fn gap(row: &Row<'_>, first: usize) -> rusqlite::Result<Gap> {
    Ok(Gap {
        source: source(row, first)?,
        reason: row.get(first + 1)?,
    })
}

fn source(row: &Row<'_>, column: usize) -> rusqlite::Result<Source> {
    let value = row.get_ref(column)?;
    let known = |name: &str| Source::ALL.into_iter().find(|known| known.name() == name);
    value
        .as_str()
        .and_then(|name| known(name).ok_or(FromSqlError::InvalidType))
        .map_err(|error| {
            let kind = value.data_type();
            rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error))
        })
}
