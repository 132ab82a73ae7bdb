//! Bare loops: connections that send a point query and receive its answer, again and again, with as
//! little code of their own as possible. What they use is the floor of any client on this machine;
//! `cargo xtask bench-peers` holds the load generator against them.
//!
//! A job comes in as JSON on standard input ([`job::Job`]), one line of JSON goes out
//! ([`report::Report`]).
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "this is a command for developers: it prints, and ends at the first thing that is wrong"
)]

mod blocking;
mod client;
mod epoll;
mod ids;
mod job;
mod report;
mod request;
mod tally;
#[expect(
    unsafe_code,
    reason = "the kernel reads and writes memory while nobody looks; the module says how that \
              is kept sound"
)]
mod uring;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::client::Client;
use crate::job::{Job, Kind};
use crate::report::{Edge, Report};
use crate::tally::Tally;

/// What the threads of a loop share with the one that measures.
struct Run<'a> {
    job: &'a Job,
    stop: AtomicBool,
    /// One for each thread.
    tallies: Vec<Tally>,
}

fn main() {
    let job: Job = serde_json::from_reader(io::stdin().lock()).unwrap();
    let run = Run {
        job: &job,
        stop: AtomicBool::new(false),
        tallies: (0..job.threads).map(|_| Tally::default()).collect(),
    };
    let mut shares: Vec<Vec<Client>> = run.tallies.iter().map(|_| Vec::new()).collect();
    for number in 0..job.clients {
        shares[(number % job.threads) as usize].push(Client::connect(&job));
    }
    let report = thread::scope(|scope| {
        let threads: Vec<_> = shares
            .into_iter()
            .zip(&run.tallies)
            .map(|(clients, tally)| scope.spawn(|| run.go(clients, tally)))
            .collect();
        let (before, after) = run.watch();
        let times = threads.into_iter().map(|thread| thread.join().unwrap());
        Report::new(&before, &after, times.flatten().next())
    });
    println!("{}", serde_json::to_string(&report).unwrap());
}

impl Run<'_> {
    /// What a thread does. Times are there where the job asks for them.
    fn go(&self, clients: Vec<Client>, tally: &Tally) -> Option<Histogram<u64>> {
        match self.job.kind {
            Kind::Blocking => blocking::run(clients, self.job, &self.stop, tally),
            Kind::Epoll => {
                epoll::run(clients, self.job, &self.stop, tally);
                None
            }
            Kind::IoUring => {
                uring::run(clients, self.job, &self.stop, tally);
                None
            }
        }
    }

    /// Lets them warm up, looks, lets them work, looks again and ends it.
    fn watch(&self) -> (Edge, Edge) {
        thread::sleep(Duration::from_millis(self.job.warmup_ms));
        let before = Edge::look(&self.tallies);
        thread::sleep(Duration::from_millis(self.job.measure_ms));
        let after = Edge::look(&self.tallies);
        self.stop.store(true, Ordering::Relaxed);
        (before, after)
    }
}
