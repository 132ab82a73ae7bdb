//! Bare loops: connections that send a point query and receive its answer repeatedly, with as little
//! code of their own as possible. Their cost is the floor of any client on this machine, and
//! `bench-peers` compares the load generator with them.
//!
//! They take the load generator's job as a line on standard input, and ignore its pace and values.

mod client;
#[expect(
    unsafe_code,
    reason = "the kernel reads and writes memory while no code uses it; the module explains why \
              that is sound"
)]
mod uring;

use std::time::{Duration, Instant};
use std::{io, thread};

use clap::ValueEnum;
use hdrhistogram::Histogram;
use prony_load::{DriveTask, Job, Task};
use prony_model::Length;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::event::epoll;
use serde::{Deserialize, Serialize};

use self::client::{BUFFER_SIZE, Client};

/// Events taken from the system at once.
const EVENTS: usize = 256;

/// Ways of waiting for answers.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Waiting {
    /// In the call that receives, with one connection.
    Blocking,
    /// The same for the length of the job, with the time of every query.
    Timed,
    /// In `epoll_wait(2)`.
    Epoll,
    /// In `io_uring_enter(2)`, in one thread.
    IoUring,
}

/// Times of one client's queries, from sending to the last byte, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) p50: u64,
    pub(crate) p99: u64,
}

impl From<&Histogram<u64>> for Latency {
    fn from(times: &Histogram<u64>) -> Self {
        Self {
            p50: times.value_at_quantile(0.5),
            p99: times.value_at_quantile(0.99),
        }
    }
}

/// Random ids of rows.
struct Ids {
    random: Xoshiro256PlusPlus,
    rows: u64,
}

impl Ids {
    fn of(task: &DriveTask) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            rows: task.dataset.rows,
        }
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        (((self.random.next_u64() >> 32) * self.rows) >> 32) + 1
    }
}

/// Runs the job until the process is killed, or prints [`Latency`] at the end if it is timed.
pub(crate) fn run(waiting: Waiting) {
    // The input stays open, so its end can't mark the end of the job.
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    let job: Job = serde_json::from_str(&line).unwrap();
    let Task::Drive(task) = &job.task else {
        unreachable!("bare loops send queries");
    };
    // The floor of a client has the client's scheduling policy.
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let usual = prony_load::usual_scheduling(&task.groups, processors);
    prony_load::schedule_as(task.scheduling.unwrap_or(usual)).unwrap();
    let count = task.groups.own().clients;
    let mut clients = (0..count).map(|_| Client::connect(&job, task.protocol));
    match waiting {
        Waiting::Blocking => run_blocking(clients.next().unwrap(), Ids::of(task)),
        Waiting::Timed => run_timed(clients.next().unwrap(), task),
        Waiting::IoUring => uring::run(clients.collect(), Ids::of(task)),
        Waiting::Epoll => {
            let mut clients: Vec<Client> = clients.collect();
            let share = clients.len().div_ceil(task.threads_max as usize);
            thread::scope(|scope| {
                for clients in clients.chunks_mut(share) {
                    scope.spawn(|| run_epoll(clients, Ids::of(task)));
                }
            });
        }
    }
}

fn run_blocking(mut client: Client, mut ids: Ids) {
    let mut buffer = [0; BUFFER_SIZE];
    loop {
        client.ask(ids.draw());
        client.receive(&mut buffer);
    }
}

/// The warm-up is included: medians are insensitive to it.
fn run_timed(mut client: Client, task: &DriveTask) {
    let Length::Time { ms } = task.length else {
        unreachable!("bare loops run for a time");
    };
    let mut ids = Ids::of(task);
    let mut times = Histogram::new(3).unwrap();
    let mut buffer = [0; BUFFER_SIZE];
    let end = Instant::now() + Duration::from_millis(task.warmup_ms + ms);
    loop {
        let id = ids.draw();
        let begin = Instant::now();
        if begin >= end {
            break;
        }
        client.ask(id);
        client.receive(&mut buffer);
        let nanos = begin.elapsed().as_nanos();
        times.record(u64::try_from(nanos).unwrap()).unwrap();
    }
    println!("{}", serde_json::to_string(&Latency::from(&times)).unwrap());
}

/// A client has one query under way, so an answer is always a new edge.
fn run_epoll(clients: &mut [Client], mut ids: Ids) {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    for (index, client) in (0..).zip(clients.iter_mut()) {
        client.socket.set_nonblocking().unwrap();
        let edges = epoll::EventFlags::IN | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(index);
        epoll::add(&epoll, &client.socket, data, edges).unwrap();
        client.ask(ids.draw());
    }
    let mut events = Vec::with_capacity(EVENTS);
    let mut buffer = [0; BUFFER_SIZE];
    loop {
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None).unwrap();
        for event in events.drain(..) {
            // The data of an event is the index that it was registered with.
            let client = &mut clients[usize::try_from(event.data.u64()).unwrap()];
            client.receive(&mut buffer);
            client.ask(ids.draw());
        }
    }
}
