//! The measured time in periods, as the sampler divided it.

use prony_model::{Alternatives, Counter, Metric, Moment, Source};

use crate::analysis::readings::Readings;

/// The time between two samples. A gap is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Period {
    /// Its end, in seconds after the start of the measured time.
    pub(crate) end_s: f64,
    /// Processor time of the server, in microseconds.
    pub(crate) server_cpu_us: Option<f64>,
    /// Fetched from storage, in KB.
    pub(crate) read_kb: Option<f64>,
    /// Sent towards storage, in KB.
    pub(crate) written_kb: Option<f64>,
    /// Resident memory of the server at the end, in KB.
    pub(crate) resident_kb: Option<f64>,
}

/// Resident memory.
const RESIDENT: Counter = Counter::new(Source::Memory, "resident_bytes");

/// The periods of a step; none where it was sampled at its edges only.
pub(crate) fn of(readings: &Readings<'_>) -> Vec<Period> {
    let samples = readings.samples;
    if !samples.iter().any(|sample| sample.moment == Moment::Period) {
        return Vec::new();
    }
    let start_ns = samples[0].at_ns;
    let cpu = growths(readings, Metric::ServerCpu);
    let read = growths(readings, Metric::ReadKb);
    let written = growths(readings, Metric::WrittenKb);
    let resident = readings.table.place(&RESIDENT);
    let ends = samples.iter().skip(1).enumerate();
    ends.map(|(index, sample)| Period {
        end_s: sample.at_ns.saturating_sub(start_ns) as f64 / 1e9,
        server_cpu_us: cpu[index].map(|ns| ns as f64 / 1e3),
        read_kb: read[index].map(|bytes| bytes as f64 / 1024.0),
        written_kb: written[index].map(|bytes| bytes as f64 / 1024.0),
        resident_kb: resident
            .and_then(|place| sample.value(place))
            .map(|bytes| bytes as f64 / 1024.0),
    })
    .collect()
}

/// By how much the counters of a metric grew in each period, by the source that has the fewest gaps.
fn growths(readings: &Readings<'_>, metric: Metric) -> Vec<Option<u64>> {
    let alternatives: Alternatives = metric.facts().how.counters();
    let of_set = |set: &&[Counter]| -> Vec<Option<u64>> {
        let pairs = readings.samples.windows(2);
        pairs
            .map(|pair| {
                let growth = |counter| readings.table.growth(&pair[0], &pair[1], counter).ok();
                set.iter().map(growth).sum()
            })
            .collect()
    };
    let known = |series: &Vec<Option<u64>>| series.iter().flatten().count();
    // The first of those with as many: they are listed from the best on.
    alternatives
        .iter()
        .rev()
        .map(of_set)
        .max_by_key(known)
        .unwrap_or_default()
}
