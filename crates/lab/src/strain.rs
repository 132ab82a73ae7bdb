//! Where the load generator, or the rate that was asked of a server, was too much: conditions to be
//! shown beside the figures of a step. Their bounds are documented in `docs/formats/report.md`.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_model::{Counter, Pace, Sample, Schedule, Source, Step, StepOutcome, ThreadUse};

/// Share of the measured time from which on a thread of the generator counts as saturated. What is
/// left then is less than what the kernel's own work takes now and then.
const BUSY_SHARE: f64 = 0.9;
/// Share of the measured time from which on waiting for a processor is said: that much of each
/// answer's way back may not be the server's.
const WAITED_SHARE: f64 = 0.1;
/// Lateness of the generator, 99th percentile in nanoseconds, below which nothing is said: a busy
/// machine's scheduler does as much to any program.
const LATE_NS: u64 = 1_000_000;
/// Share of the response time from which on lateness is said: below it, the response time shown
/// can't be wrong by more.
const LATE_SHARE: f64 = 0.1;
/// A backlog is said where it is more than one in so many planned operations. Fewer can wait at any
/// instant where arrivals come at random.
const BACKLOG_ONE_IN: u64 = 100;

/// Share of the machine that a hypervisor may take before a figure carries a warning. Below it,
/// the loss is smaller than the spread between trials on a quiet machine.
const STEAL_SHARE_MAX: f64 = 0.01;

const STEAL: Counter = Counter::new(Source::Host, "steal_ns");

/// A condition: its code and its words.
pub(crate) type Condition = (&'static str, String);

/// Clients whose schedule is looked at.
#[derive(Debug, Clone, Copy)]
struct Clients {
    count: u32,
    pace: Pace,
}

/// The warning about time stolen between two samples on a host with `cpus` processors, if there is
/// something to warn about.
pub(crate) fn steal_warning(start: &Sample, end: &Sample, cpus: u32) -> Option<String> {
    let stolen = end.since(start, &STEAL).ok()?;
    let elapsed = end
        .at_ns
        .checked_sub(start.at_ns)
        .filter(|elapsed| *elapsed > 0)?;
    let share = stolen as f64 / (elapsed as f64 * f64::from(cpus.max(1)));
    (share > STEAL_SHARE_MAX).then(|| {
        format!(
            "the hypervisor took {:.1} % of the machine's time away",
            share * 100.0
        )
    })
}

/// What must be shown beside the figures of a step.
pub(crate) fn conditions(step: &Step, outcome: &StepOutcome) -> Vec<Condition> {
    let groups = step.beside.iter().map(|group| (group.clients, group.pace));
    let latencies_matter = std::iter::once((step.clients, step.pace))
        .chain(groups)
        .any(|(clients, pace)| clients == 1 || pace.is_scheduled());
    let mut found: Vec<Condition> = busy(&outcome.thread_use).into_iter().collect();
    if latencies_matter {
        found.extend(waited(&outcome.thread_use));
    }
    if let Some(schedule) = &outcome.schedule {
        let clients = Clients {
            count: step.clients,
            pace: step.pace,
        };
        found.extend(of_schedule(schedule, clients, step.drain_ms()));
    }
    for (group, planned) in outcome.beside.iter().zip(&step.beside) {
        let Some(schedule) = &group.schedule else {
            continue;
        };
        let clients = Clients {
            count: group.clients,
            pace: planned.pace,
        };
        let said = of_schedule(schedule, clients, step.drain_ms());
        found.extend(said.map(|(code, text)| (code, format!("{}: {text}", group.name))));
    }
    found
}

/// The greatest share that a thread spent on something.
fn most(used: &[ThreadUse], ns: impl Fn(&ThreadUse) -> Option<u64>) -> f64 {
    used.iter()
        .filter_map(|thread| Some(ns(thread)? as f64 / thread.wall_ns.max(1) as f64))
        .fold(0.0, f64::max)
}

/// What the busiest of the generator's threads says.
fn busy(used: &[ThreadUse]) -> Option<Condition> {
    let share = most(used, |thread| Some(thread.cpu_ns));
    (share >= BUSY_SHARE).then(|| {
        let text = format!(
            "a thread of the load generator worked for {:.0} % of the measured time: the figure \
             may be the generator's limit and not the server's",
            share * 100.0
        );
        ("generator-busy", text)
    })
}

/// What the one that waited longest for a processor says. Where many clients of a closed loop share
/// the processors with the server, that is as it must be.
fn waited(used: &[ThreadUse]) -> Option<Condition> {
    let share = most(used, |thread| thread.run_queue_ns);
    (share >= WAITED_SHARE).then(|| {
        let text = format!(
            "a thread of the load generator was ready to run and waited for a processor for \
             {:.0} % of the measured time: that is part of the latencies",
            share * 100.0
        );
        ("generator-waited", text)
    })
}

/// What a schedule says of how it was kept.
fn of_schedule(
    schedule: &Schedule,
    clients: Clients,
    waited_ms: u64,
) -> impl Iterator<Item = Condition> {
    let slipped = slipped(schedule).map(|text| ("schedule-slipped", text));
    let backlog = match clients.pace {
        Pace::Open { rate, .. } => {
            let many = u64::from(clients.count).max(schedule.planned / BACKLOG_ONE_IN);
            (schedule.backlog > many).then(|| {
                format!(
                    "{} of {} operations were due and had not begun when the measured time was \
                     over: the server, or the generator, could not keep up with {rate}/s",
                    schedule.backlog, schedule.planned
                )
            })
        }
        Pace::Closed { .. } => None,
    };
    let left = (schedule.left > 0).then(|| {
        format!(
            "{} of {} operations were never begun, because the backlog was not worked off within \
             {} s: the longest response times are missing",
            schedule.left,
            schedule.planned,
            waited_ms as f64 / 1000.0
        )
    });
    let backlog = backlog.map(|text| ("backlog", text));
    let left = left.map(|text| ("operations-left", text));
    slipped.into_iter().chain(backlog).chain(left)
}

/// Whether the generator itself was so late that the response time says something else.
fn slipped(schedule: &Schedule) -> Option<String> {
    let error_ns = percentile_99(&schedule.error)?;
    let response_ns = percentile_99(&schedule.response)?;
    let late = error_ns >= LATE_NS && error_ns as f64 >= response_ns as f64 * LATE_SHARE;
    late.then(|| {
        format!(
            "one in a hundred operations began {:.1} ms or more late although a client was idle \
             (response time at the same percentile: {:.1} ms): the load generator itself was held \
             up",
            error_ns as f64 / 1e6,
            response_ns as f64 / 1e6
        )
    })
}

/// The 99th percentile of a stored histogram. `None` where it is empty or can't be read.
fn percentile_99(mut bytes: &[u8]) -> Option<u64> {
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes).ok()?;
    (!histogram.is_empty()).then(|| histogram.value_at_quantile(0.99))
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
    use prony_model::{Moment, Spacing, Thousandths};

    use super::*;

    fn histogram(ns: u64) -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record_n(ns, 1000).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&histogram, &mut bytes)
            .unwrap();
        bytes
    }

    fn schedule(response_ns: u64, error_ns: u64) -> Schedule {
        Schedule {
            planned: 10_000,
            backlog: 0,
            left: 0,
            response: histogram(response_ns),
            error: histogram(error_ns),
        }
    }

    fn said(schedule: &Schedule) -> Vec<Condition> {
        let pace = Pace::Open {
            rate: Thousandths(500_000),
            spacing: Spacing::Poisson,
        };
        let clients = Clients { count: 4, pace };
        of_schedule(schedule, clients, 10_000).collect()
    }

    fn used(cpu_ns: u64, run_queue_ns: Option<u64>) -> ThreadUse {
        ThreadUse {
            wall_ns: 1000,
            cpu_ns,
            run_queue_ns,
        }
    }

    fn sample(at_ns: u64, steal_ns: u64) -> Sample {
        Sample {
            moment: Moment::Start,
            at_ns,
            took_ns: 0,
            values: [(STEAL, steal_ns)].into(),
            gaps: Vec::new(),
        }
    }

    #[test]
    fn steal_is_a_share_of_all_processors() {
        let start = sample(1_000, 500);
        assert_eq!(steal_warning(&start, &sample(101_000, 2_400), 2), None);
        let warning = steal_warning(&start, &sample(101_000, 4_500), 2).unwrap();
        assert_eq!(
            warning,
            "the hypervisor took 2.0 % of the machine's time away"
        );
    }

    #[test]
    fn a_counter_that_ran_backwards_warns_of_nothing() {
        let warning = |start, end| steal_warning(&start, &end, 2);
        assert_eq!(warning(sample(1_000, 500), sample(2_000, 400)), None);
        assert_eq!(warning(sample(2_000, 0), sample(1_000, 400)), None);
    }

    #[test]
    fn saturated_threads_are_named() {
        let idle = [used(899, Some(99)), used(5, None)];
        assert_eq!((busy(&idle), waited(&idle)), (None, None));
        let strained = [used(10, Some(250)), used(951, None)];
        let (code, text) = busy(&strained).unwrap();
        assert_eq!(code, "generator-busy");
        assert!(text.contains("95 %"), "{text}");
        let (code, text) = waited(&strained).unwrap();
        assert_eq!(code, "generator-waited");
        assert!(text.contains("25 %"), "{text}");
    }

    #[test]
    fn lateness_counts_where_it_is_long_and_a_part_of_the_response_time() {
        assert_eq!(said(&schedule(200_000, 900_000)), []);
        assert_eq!(said(&schedule(50_000_000, 2_000_000)), []);
        let found = said(&schedule(5_000_000, 2_000_000));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "schedule-slipped");
        assert!(found[0].1.contains("2.0 ms"), "{found:?}");
    }

    #[test]
    fn backlogs_count_beyond_the_clients_and_one_in_a_hundred() {
        let mut late = schedule(1000, 1000);
        late.backlog = 100;
        assert_eq!(said(&late), []);
        late.backlog = 101;
        assert_eq!(said(&late)[0].0, "backlog");
        assert!(said(&late)[0].1.contains("500/s"));
        late.left = 7;
        let found = said(&late);
        assert_eq!(found[1].0, "operations-left");
        assert!(found[1].1.starts_with("7 of 10000"), "{found:?}");
        // As many as there are clients can always be under way.
        let mut few = schedule(1000, 1000);
        few.planned = 100;
        few.backlog = 4;
        assert_eq!(said(&few), []);
    }

    #[test]
    fn what_can_not_be_read_says_nothing() {
        let broken = Schedule {
            error: vec![1, 2],
            ..schedule(1, 1)
        };
        assert_eq!(said(&broken), []);
    }
}
