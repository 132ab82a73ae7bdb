//! One turn of one contestant: what its steady state costs.

use std::thread;
use std::time::Duration;

use prony_probe::{ProcessSample, Root, ThreadsSample, monotonic_ns, resident_peak_bytes};
use serde::Serialize;

use crate::contestant::Program;
use crate::running::Contending;
use crate::server::Server;

/// From the first queries to the steady state.
const WARMUP: Duration = Duration::from_secs(1);

/// The steady state, as differences between its two ends.
#[derive(Serialize)]
pub(crate) struct Figures {
    wall_ns: u64,
    /// Counted by the server.
    queries: u64,
    /// Processor time of the client, exact.
    client_ns: u64,
    /// The same in user space and in the kernel; both move in clock ticks.
    client_user_ns: u64,
    client_system_ns: u64,
    /// How often a thread of the client was put on a processor.
    client_slices: u64,
    /// Most resident memory of the client, from its start.
    client_peak_bytes: u64,
    client_threads: u64,
    /// Processor time of the server, exact.
    server_ns: u64,
}

/// One end of the steady state.
struct Edge {
    at_ns: u64,
    queries: u64,
    client: ThreadsSample,
    process: ProcessSample,
    server: ThreadsSample,
}

/// Runs the program until `seconds` of its steady state are measured, and ends it.
pub(crate) fn take(program: Program, seconds: u64, server: &mut Server) -> Figures {
    let clients = u64::from(program.clients);
    server.wait_until_idle();
    let contending = Contending::start(program);
    server.wait_until_begun(clients);
    thread::sleep(WARMUP);
    let before = Edge::look(&contending, server);
    thread::sleep(Duration::from_secs(seconds));
    let after = Edge::look(&contending, server);
    let peak = resident_peak_bytes(&Root::live(), contending.pid()).unwrap();
    contending.kill();
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
    /// Reading takes a while with a thousand threads. It is done in the same order at both ends, so
    /// that everything is measured over the same length of time.
    fn look(contending: &Contending, server: &mut Server) -> Self {
        let proc = Root::live();
        Self {
            process: ProcessSample::take(&proc, contending.pid()).unwrap(),
            client: ThreadsSample::take(&proc, contending.pid()).unwrap(),
            queries: server.counters().queries,
            at_ns: monotonic_ns(),
            server: ThreadsSample::take(&proc, server.pid()).unwrap(),
        }
    }
}
