//! One turn of one contestant.

use std::io::{BufRead, BufReader, Read, read_to_string};
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_host::Process;
use prony_load::Message;
use prony_model::StepOutcome;
use prony_probe::{ProcessSample, Root, ThreadsSample, monotonic_ns, resident_peak_bytes};

use super::contestant::Contestant;
use super::measured::{Figures, OpenFigures};
use super::server::Server;
use crate::bare::Latency;

/// From the first queries to the steady state.
const WARMUP: Duration = Duration::from_secs(1);

/// One end of the steady state.
struct Edge {
    at_ns: u64,
    queries: u64,
    client: ThreadsSample,
    process: ProcessSample,
    server_ns: u64,
}

/// Measures `seconds` of a process's steady state, and ends the process.
pub(super) fn steady_state(
    mut process: Process,
    clients: u32,
    seconds: u64,
    server: &mut Server,
) -> Figures {
    let messages = process.child().stdout.take().map(|output| {
        // A full pipe would stop the client.
        thread::spawn(|| Intervals::read(output))
    });
    server.wait_until_begun(clients.into());
    thread::sleep(WARMUP);
    let before = Edge::read(&process, server);
    thread::sleep(Duration::from_secs(seconds));
    let after = Edge::read(&process, server);
    let peak = resident_peak_bytes(&Root::live(), process.id()).unwrap();
    process.kill();
    let intervals = messages.map(|messages| messages.join().unwrap());
    Figures {
        wall_ns: after.at_ns - before.at_ns,
        queries: after.queries - before.queries,
        client_ns: after.client.run_ns - before.client.run_ns,
        client_user_ns: after.process.user_ns - before.process.user_ns,
        client_system_ns: after.process.system_ns - before.process.system_ns,
        client_slices: after.client.slices - before.client.slices,
        client_peak_bytes: peak,
        client_threads: after.process.threads,
        server_ns: after.server_ns - before.server_ns,
        latency: intervals.map(|intervals| intervals.latency(before.at_ns, after.at_ns)),
    }
}

/// Messages of a load generator about its intervals.
#[derive(Default)]
struct Intervals {
    start_ns: u64,
    /// Start and end, in nanoseconds since `start_ns`, and the times of the operations.
    intervals: Vec<(u64, u64, Histogram<u64>)>,
}

impl Intervals {
    /// Reads messages until the client ends.
    fn read(output: impl Read) -> Self {
        let mut read = Self::default();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The client is killed, maybe within a line.
            match serde_json::from_str(&line) {
                Ok(Message::MeasureStart { at_ns }) => read.start_ns = at_ns,
                Ok(Message::Interval {
                    interval,
                    histogram,
                }) => {
                    let times = (interval.start_ns, interval.end_ns, decode(&histogram));
                    read.intervals.push(times);
                }
                _ => {}
            }
        }
        read
    }

    /// Times of the intervals that lie within a steady state.
    fn latency(&self, from_ns: u64, to_ns: u64) -> Latency {
        let mut all = Histogram::new(3).unwrap();
        for (start_ns, end_ns, times) in &self.intervals {
            if self.start_ns + start_ns >= from_ns && self.start_ns + end_ns <= to_ns {
                all.add(times).unwrap();
            }
        }
        Latency::from(&all)
    }
}

fn decode(mut histogram: &[u8]) -> Histogram<u64> {
    Deserializer::new().deserialize(&mut histogram).unwrap()
}

impl Edge {
    /// Reading takes a while with a thousand threads. The order is the same at both ends, so that
    /// all readings cover the same length of time.
    fn read(process: &Process, server: &mut Server) -> Self {
        let proc = Root::live();
        Self {
            process: ProcessSample::take(&proc, process.id()).unwrap(),
            client: ThreadsSample::take(&proc, process.id()).unwrap(),
            queries: server.counters().queries,
            at_ns: monotonic_ns(),
            server_ns: server.run_ns(),
        }
    }
}

/// Waits for a contestant's end and returns the times that it took.
pub(super) fn latency(contestant: Contestant, process: Process) -> Latency {
    let last = last_line(process);
    if contestant == Contestant::BareBlocking {
        return serde_json::from_str(&last).unwrap();
    }
    Latency::from(&decode(&outcome(&last).groups.own().histogram))
}

/// Waits for the end of an open loop and returns its figures.
pub(super) fn open_loop(process: Process) -> OpenFigures {
    let outcome = outcome(&last_line(process));
    let own = outcome.groups.own();
    let schedule = own.schedule.as_ref().unwrap();
    OpenFigures {
        late: Latency::from(&decode(&schedule.error)),
        response: Latency::from(&decode(&schedule.response)),
        operations: own.operations,
        client_ns: outcome.client_user_ns + outcome.client_system_ns,
    }
}

/// The last line of a contestant that ends well.
fn last_line(mut process: Process) -> String {
    let output = process.child().stdout.take().unwrap();
    let output = read_to_string(output).unwrap();
    let status = process.wait().unwrap();
    assert!(status.success(), "a contestant failed ({status}): {output}");
    output.lines().next_back().unwrap().to_owned()
}

fn outcome(line: &str) -> StepOutcome {
    let Message::Done { outcome } = serde_json::from_str(line).unwrap() else {
        unreachable!("a workload ends with its outcome");
    };
    *outcome
}
