//! Measurements of one thread. Nothing here is shared; threads' records are added up at the end.

mod counts;
pub(crate) mod intervals;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use prony_model::{ErrorClass, ErrorCount, Expect, Schedule, StatementOutcome};

use crate::LoadError;
use crate::protocol::{Refusal, Tally};
use crate::recorder::counts::Counts;

/// One hour: longer latencies are recorded as this.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// Significant decimal digits of a recorded latency.
const DIGITS: u8 = 3;

/// A histogram of nanoseconds.
pub(crate) type Latencies = Histogram<u64>;

pub(crate) fn new_latencies() -> Result<Latencies, LoadError> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS).map_err(histogram_error)
}

/// The histogram in the V2 format, deflated.
pub(crate) fn serialise(latencies: &Latencies) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(latencies, &mut bytes)
        .map_err(histogram_error)?;
    Ok(bytes)
}

fn add(sum: &mut Latencies, part: &Latencies) -> Result<(), LoadError> {
    sum.add(part).map_err(histogram_error)
}

// The errors of `hdrhistogram` have no type in common.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn histogram_error(error: impl ToString) -> LoadError {
    LoadError::Histogram(error.to_string())
}

/// Counts between two readings of the clock of one thread; with [`Counts`], a period that is not
/// over yet.
#[derive(Debug, Clone)]
pub(crate) struct Period<H = Latencies> {
    /// Latency of the operations that ended.
    pub(crate) operations: H,
    /// Statements answered without error.
    pub(crate) queries: u64,
    /// Errors of all classes.
    pub(crate) errors: u64,
    /// Response time of the operations that ended, where they have an intended start.
    pub(crate) response: Option<H>,
    /// Operations that were due at the period's end and had not begun.
    pub(crate) backlog: u64,
}

impl Period {
    /// Adds another thread's period of the same time.
    fn add(&mut self, other: &Self) -> Result<(), LoadError> {
        self.queries += other.queries;
        self.errors += other.errors;
        self.backlog += other.backlog;
        if let (Some(sum), Some(part)) = (&mut self.response, &other.response) {
            add(sum, part)?;
        }
        add(&mut self.operations, &other.operations)
    }
}

/// Counts of one kind of statement.
#[derive(Debug)]
struct StatementRecord {
    latencies: Counts,
    rows: u64,
    affected: u64,
    unexpected: u64,
}

/// Counters and histograms of one thread and one phase.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Operations of the periods that are over.
    operations: Latencies,
    /// Since the last period ended.
    period: Period<Counts>,
    /// In the order of the program; then `BEGIN`, `COMMIT` and connecting.
    statements: Vec<StatementRecord>,
    errors: Vec<ErrorCount>,
    schedule: Option<ScheduleRecord>,
}

/// Lateness and backlog of operations.
#[derive(Debug)]
struct ScheduleRecord {
    /// Response time, of the periods that are over.
    response: Latencies,
    /// Send minus intended start, where a client was idle in time.
    error: Counts,
    planned: u64,
    backlog: u64,
    left: u64,
}

impl Recorder {
    /// For this many kinds of statement; `scheduled` where operations have an intended start.
    pub(crate) fn new(statements: usize, scheduled: bool) -> Result<Self, LoadError> {
        Ok(Self {
            operations: new_latencies()?,
            period: Period {
                operations: Counts::new(),
                queries: 0,
                errors: 0,
                response: scheduled.then(Counts::new),
                backlog: 0,
            },
            schedule: scheduled.then(ScheduleRecord::new).transpose()?,
            statements: (0..statements).map(|_| StatementRecord::new()).collect(),
            errors: Vec::new(),
        })
    }

    /// An operation ended well.
    #[inline]
    pub(crate) fn operation(&mut self, latency_ns: u64) {
        self.period.operations.record(latency_ns);
    }

    /// The same of one that had an intended start: its response time, and how late it was sent
    /// where its client was idle in time.
    pub(crate) fn scheduled_operation(&mut self, response_ns: u64, error_ns: Option<u64>) {
        if let Some(response) = &mut self.period.response {
            response.record(response_ns);
        }
        if let (Some(schedule), Some(error_ns)) = (&mut self.schedule, error_ns) {
            schedule.error.record(error_ns);
        }
    }

    /// Connecting anew took so long.
    pub(crate) fn connected(&mut self, kind: usize, latency_ns: u64) {
        self.statements[kind].latencies.record(latency_ns);
    }

    /// Counts what was planned, what of it had not begun when the measured time was over, and what
    /// never began.
    pub(crate) fn planned(&mut self, planned: u64, backlog: u64, left: u64) {
        if let Some(schedule) = &mut self.schedule {
            schedule.planned += planned;
            schedule.backlog += backlog;
            schedule.left += left;
            // The last period ends with what is left.
            self.period.backlog = left;
        }
    }

    /// A statement was answered without error.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        statement: usize,
        latency_ns: u64,
        tally: Tally,
        expect: &Expect,
    ) {
        self.period.queries += 1;
        let record = &mut self.statements[statement];
        record.latencies.record(latency_ns);
        record.rows += tally.rows;
        record.affected += tally.affected;
        let fits = expect.rows.is_none_or(|range| range.contains(tally.rows))
            && expect
                .affected
                .is_none_or(|range| range.contains(tally.affected));
        record.unexpected += u64::from(!fits);
    }

    /// The server refused a statement.
    pub(crate) fn error(&mut self, error: &Refusal<'_>, class: ErrorClass) {
        self.period.errors += 1;
        let code = error.code;
        if let Some(known) = self.errors.iter_mut().find(|e| e.code == code) {
            known.count += 1;
            return;
        }
        self.errors.push(ErrorCount {
            code,
            class,
            count: 1,
            message: error.message_text(),
        });
    }

    /// Ends the period and returns it.
    pub(crate) fn end_period(&mut self) -> Result<Period, LoadError> {
        let open = &mut self.period;
        let response = open.response.as_ref().map(Counts::histogram).transpose()?;
        let period = Period {
            operations: open.operations.histogram()?,
            queries: open.queries,
            errors: open.errors,
            response,
            backlog: open.backlog,
        };
        add(&mut self.operations, &period.operations)?;
        if let (Some(schedule), Some(response)) = (&mut self.schedule, &period.response) {
            add(&mut schedule.response, response)?;
        }
        open.operations.reset();
        (open.queries, open.errors, open.backlog) = (0, 0, 0);
        if let Some(response) = &mut open.response {
            response.reset();
        }
        Ok(period)
    }

    /// Adds what another thread recorded. Its last period, too, must be over.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), LoadError> {
        add(&mut self.operations, &other.operations)?;
        for (sum, part) in self.statements.iter_mut().zip(&other.statements) {
            sum.latencies.add(&part.latencies);
            sum.rows += part.rows;
            sum.affected += part.affected;
            sum.unexpected += part.unexpected;
        }
        if let (Some(sum), Some(part)) = (&mut self.schedule, &other.schedule) {
            sum.merge(part)?;
        }
        for part in &other.errors {
            match self.errors.iter_mut().find(|sum| sum.code == part.code) {
                Some(sum) => sum.count += part.count,
                None => self.errors.push(part.clone()),
            }
        }
        Ok(())
    }

    /// Latency of the operations of all periods that are over.
    pub(crate) const fn operations(&self) -> &Latencies {
        &self.operations
    }

    /// Errors by code, in the order of the codes.
    pub(crate) fn errors(&self) -> Vec<ErrorCount> {
        let mut errors = self.errors.clone();
        errors.sort_by_key(|error| error.code);
        errors
    }

    /// Lateness and backlog of operations, if they had a schedule.
    pub(crate) fn schedule(&self) -> Result<Option<Schedule>, LoadError> {
        let Some(schedule) = &self.schedule else {
            return Ok(None);
        };
        Ok(Some(Schedule {
            planned: schedule.planned,
            backlog: schedule.backlog,
            left: schedule.left,
            response: serialise(&schedule.response)?,
            error: serialise(&schedule.error.histogram()?)?,
        }))
    }

    /// Counts of these kinds of statement, under their names.
    pub(crate) fn statements<'a>(
        &self,
        kinds: impl Iterator<Item = (usize, &'a str)>,
    ) -> Result<Vec<StatementOutcome>, LoadError> {
        kinds
            .map(|(index, name)| {
                let record = &self.statements[index];
                let latencies = record.latencies.histogram()?;
                Ok(StatementOutcome {
                    name: name.to_owned(),
                    count: latencies.len(),
                    rows: record.rows,
                    affected: record.affected,
                    unexpected: record.unexpected,
                    histogram: serialise(&latencies)?,
                })
            })
            .collect()
    }
}

impl ScheduleRecord {
    fn new() -> Result<Self, LoadError> {
        Ok(Self {
            response: new_latencies()?,
            error: Counts::new(),
            planned: 0,
            backlog: 0,
            left: 0,
        })
    }

    fn merge(&mut self, other: &Self) -> Result<(), LoadError> {
        self.planned += other.planned;
        self.backlog += other.backlog;
        self.left += other.left;
        add(&mut self.response, &other.response)?;
        self.error.add(&other.error);
        Ok(())
    }
}

impl StatementRecord {
    fn new() -> Self {
        Self {
            latencies: Counts::new(),
            rows: 0,
            affected: 0,
            unexpected: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    /// One operation of a thread: which of two statements, how long it took, how late it began.
    type Seen = (usize, u64, u64);

    fn recorder(seen: &[Seen], period_ends: usize) -> Recorder {
        let mut recorder = Recorder::new(2, true).unwrap();
        for (index, (statement, latency, late)) in seen.iter().enumerate() {
            if index == period_ends {
                recorder.end_period().unwrap();
            }
            recorder.operation(*latency);
            recorder.scheduled_operation(latency + late, Some(*late));
            recorder.answer(*statement, *latency, Tally::default(), &Expect::default());
        }
        recorder.end_period().unwrap();
        recorder
    }

    fn operations() -> impl Strategy<Value = Vec<Seen>> {
        let seen = (0..2_usize, 1..LATENCY_NS_MAX, 1..1_000_000_000_u64);
        proptest::collection::vec(seen, 0..50)
    }

    proptest! {
        // Each case makes two dozen histograms of 264 KB.
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Merged records of two threads are the record of one thread that saw everything, in
        /// total and for each statement, and periods do not matter.
        #[test]
        fn merging_is_recording_all(
            first in operations(),
            second in operations(),
            period_ends in 0..50_usize,
        ) {
            let mut merged = recorder(&first, period_ends);
            merged.merge(&recorder(&second, period_ends)).unwrap();
            let all = [first, second].concat();
            let sum = recorder(&all, 0);
            prop_assert_eq!(merged.operations(), sum.operations());
            for (merged, sum) in merged.statements.iter().zip(&sum.statements) {
                prop_assert_eq!(&merged.latencies, &sum.latencies);
            }
            let (merged, sum) = (merged.schedule.unwrap(), sum.schedule.unwrap());
            prop_assert_eq!(merged.response, sum.response);
            prop_assert_eq!(merged.error, sum.error);
        }

        /// Percentiles of merged histograms are those of the values themselves, to three digits.
        #[test]
        fn percentiles_are_those_of_all_values(
            mut values in proptest::collection::vec(1_000..LATENCY_NS_MAX, 1..200),
            thousandths in 1..=1000_usize,
        ) {
            let mut merged = new_latencies().unwrap();
            for part in values.chunks(7) {
                let mut thread = new_latencies().unwrap();
                for value in part {
                    thread.saturating_record(*value);
                }
                add(&mut merged, &thread).unwrap();
            }
            values.sort_unstable();
            let rank = (values.len() * thousandths).div_ceil(1000);
            let exact = values[rank - 1] as f64;
            let found = merged.value_at_quantile(thousandths as f64 / 1000.0) as f64;
            prop_assert!((found / exact - 1.0).abs() <= 1e-3, "{found} for {exact}");
        }
    }

    #[test]
    fn histograms_read_back() {
        let mut latencies = new_latencies().unwrap();
        for latency in [1_000, 2_000_000, 3_599_000_000_000] {
            latencies.saturating_record(latency);
        }
        let bytes = serialise(&latencies).unwrap();
        let read: Latencies = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap();
        assert_eq!(read, latencies);
        assert!(read.max().abs_diff(3_599_000_000_000) < 3_599_000_000);
    }

    #[test]
    fn counts_what_was_not_expected() {
        let mut recorder = Recorder::new(1, false).unwrap();
        let expect = Expect {
            rows: Some("1".parse().unwrap()),
            affected: None,
        };
        for rows in [1, 0, 2, 1] {
            let tally = Tally {
                rows,
                affected: 7,
                packets: 5,
            };
            recorder.answer(0, 10, tally, &expect);
        }
        let outcome = &recorder.statements([(0, "point")].into_iter()).unwrap()[0];
        assert_eq!(
            (
                outcome.count,
                outcome.rows,
                outcome.affected,
                outcome.unexpected
            ),
            (4, 4, 28, 2)
        );
    }

    #[test]
    fn errors_by_code() {
        let mut recorder = Recorder::new(0, false).unwrap();
        for code in [1213, 1062, 1213] {
            let error = Refusal {
                code: code.into(),
                sqlstate: b"40001",
                message: b"words",
            };
            recorder.error(&error, prony_model::classify(code.into()));
        }
        let errors = recorder.errors();
        assert_eq!(errors.len(), 2);
        assert_eq!((errors[0].code, errors[0].count), (1062.into(), 1));
        assert_eq!((errors[1].code, errors[1].count), (1213.into(), 2));
        assert_eq!(errors[1].class, ErrorClass::Retryable);
        assert_eq!(recorder.end_period().unwrap().errors, 3);
    }
}
