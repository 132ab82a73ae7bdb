//! One turn of one contestant.

use std::io::read_to_string;
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_host::Process;
use prony_load::Message;
use prony_probe::{ProcessSample, Root, ThreadsSample, monotonic_ns, resident_peak_bytes};

use super::contestant::Contestant;
use super::measured::Figures;
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
    server: ThreadsSample,
}

/// Measures `seconds` of a process's steady state, and ends the process.
pub(super) fn steady_state(
    mut process: Process,
    clients: u32,
    seconds: u64,
    server: &mut Server,
) -> Figures {
    server.wait_until_begun(clients.into());
    thread::sleep(WARMUP);
    let before = Edge::read(&process, server);
    thread::sleep(Duration::from_secs(seconds));
    let after = Edge::read(&process, server);
    let peak = resident_peak_bytes(&Root::live(), process.id()).unwrap();
    process.kill();
    Figures {
        wall_ns: after.at_ns - before.at_ns,
        queries: after.queries - before.queries,
        client_ns: after.client.run_ns - before.client.run_ns,
        client_user_ns: after.process.user_ns - before.process.user_ns,
        client_system_ns: after.process.system_ns - before.process.system_ns,
        client_slices: after.client.slices - before.client.slices,
        client_peak_bytes: peak,
        client_threads: after.process.threads,
        server_ns: after.server.run_ns - before.server.run_ns,
    }
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
            server: ThreadsSample::take(&proc, server.pid()).unwrap(),
        }
    }
}

/// Waits for a contestant's end and returns the times that it took.
pub(super) fn latency(contestant: Contestant, mut process: Process) -> Latency {
    let output = process.child().stdout.take().unwrap();
    let output = read_to_string(output).unwrap();
    let status = process.wait().unwrap();
    assert!(status.success(), "a contestant failed ({status}): {output}");
    let last = output.lines().next_back().unwrap();
    if contestant == Contestant::BareBlocking {
        return serde_json::from_str(last).unwrap();
    }
    let Message::Done { outcome } = serde_json::from_str(last).unwrap() else {
        unreachable!("a workload ends with its outcome");
    };
    let mut histogram = outcome.groups.own().histogram.as_slice();
    let times: Histogram<u64> = Deserializer::new().deserialize(&mut histogram).unwrap();
    Latency::from(&times)
}
