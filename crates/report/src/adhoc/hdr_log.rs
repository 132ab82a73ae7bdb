//! The log of interval histograms that other tools read: `HdrHistogram` interval log, version 1.3,
//! with a histogram of version 2 on each line, in nanoseconds.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriter, IntervalLogWriterBuilder, IntervalLogWriterError,
};
use prony_model::Interval;

/// Nanoseconds of a millisecond, in which the log shows maxima to people.
const NS_PER_MS: f64 = 1e6;

/// The reason why the log can't be written.
#[derive(Debug, thiserror::Error)]
#[error("write {path}: {reason}")]
pub struct HdrLogError {
    path: PathBuf,
    reason: String,
}

/// The file, and the writer of histograms.
pub struct HdrFile {
    path: PathBuf,
    file: File,
    serializer: V2DeflateSerializer,
}

/// A log that has begun.
pub struct HdrLog<'a> {
    path: &'a Path,
    writer: IntervalLogWriter<'a, 'a, File, V2DeflateSerializer>,
}

impl HdrFile {
    /// Opens or makes the file, so that a wrong path is noticed at once. Its content stays until
    /// there is something to write.
    ///
    /// # Errors
    /// When it can't be opened for writing.
    pub fn open(path: &Path) -> Result<Self, HdrLogError> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| failure(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            serializer: V2DeflateSerializer::new(),
        })
    }

    /// Empties the file and writes the heading. Times of intervals count from `start`.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn begin(&mut self, start: SystemTime) -> Result<HdrLog<'_>, HdrLogError> {
        let path = self.path.as_path();
        empty(&self.file).map_err(|error| failure(path, &error))?;
        let writer = IntervalLogWriterBuilder::new()
            .add_comment("[Histogram log format version 1.3]")
            .add_comment("Service times of operations in nanoseconds, by prony load")
            .with_start_time(start)
            .with_base_time(start)
            .with_max_value_divisor(NS_PER_MS)
            .begin_log_with(&mut self.file, &mut self.serializer)
            .map_err(|error| failure(path, &error))?;
        Ok(HdrLog { path, writer })
    }
}

impl HdrLog<'_> {
    /// Adds a line.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn add(
        &mut self,
        interval: &Interval,
        histogram: &Histogram<u64>,
    ) -> Result<(), HdrLogError> {
        let length = interval.end_ns.saturating_sub(interval.start_ns);
        self.writer
            .write_histogram(
                histogram,
                Duration::from_nanos(interval.start_ns),
                Duration::from_nanos(length),
                None,
            )
            .map_err(|error| match error {
                IntervalLogWriterError::IoError(error) => failure(self.path, &error),
                IntervalLogWriterError::SerializeError(error) => HdrLogError {
                    path: self.path.to_owned(),
                    reason: error.to_string(),
                },
            })
    }
}

/// Removes the file's content. Pipes and devices keep nothing, and can't be cut.
fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(())
}

fn failure(path: &Path, error: &io::Error) -> HdrLogError {
    HdrLogError {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    #[test]
    fn the_log_reads_back_and_sums_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hlog");
        let mut file = HdrFile::open(&path).unwrap();
        let mut log = file.begin(SystemTime::UNIX_EPOCH).unwrap();
        let mut all = Histogram::<u64>::new(3).unwrap();
        for number in 0..3_u64 {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            for value in 1..=100 {
                histogram.record(value * 1_000 * (number + 1)).unwrap();
            }
            all.add(&histogram).unwrap();
            let interval = Interval {
                start_ns: number * 500_000_000,
                end_ns: (number + 1) * 500_000_000,
                operations: 100,
                queries: 100,
                errors: 0,
                latency_ns_p99: 0,
                latency_ns_max: 0,
                response_ns_p99: 0,
                backlog: 0,
            };
            log.add(&interval, &histogram).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap();
        let mut sum = Histogram::<u64>::new(3).unwrap();
        let mut times = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let text = interval.encoded_histogram();
                let encoded = STANDARD.decode(text).unwrap();
                let read: Histogram<u64> = Deserializer::new()
                    .deserialize(&mut encoded.as_slice())
                    .unwrap();
                sum.add(&read).unwrap();
                times.push((interval.start_timestamp(), interval.duration()));
            }
        }
        assert_eq!(sum, all);
        let half = Duration::from_millis(500);
        assert_eq!(
            times,
            [(Duration::ZERO, half), (half, half), (half * 2, half)]
        );
    }

    #[test]
    fn an_older_log_stays_until_the_new_one_begins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hlog");
        let older = "older ".repeat(1_000);
        std::fs::write(&path, &older).unwrap();
        let mut file = HdrFile::open(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), older);
        file.begin(SystemTime::UNIX_EPOCH).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("#[Histogram log format"), "{text}");
        assert!(!text.contains("older"), "{text}");
    }

    #[test]
    fn a_log_may_be_a_device() {
        let mut file = HdrFile::open(Path::new("/dev/null")).unwrap();
        assert!(file.begin(SystemTime::UNIX_EPOCH).is_ok());
    }
}
