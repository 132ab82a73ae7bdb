//! In steady state nothing is allocated for a query: ten times as many operations take exactly as
//! many allocations.
//!
//! The server runs in a process of its own, which is this test's binary again.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail the test"
)]

#[expect(dead_code, reason = "other tests use what is not used here")]
#[path = "generator/testkit.rs"]
mod testkit;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use prony_client::Address;
use prony_load::{DriveTask, Job, Task, choose_backend};
use prony_model::{
    Backend, Change, Dataset, Display, Distribution, Effect, Expect, Family, Generator, Group,
    Length, Param, Protocol, Schema, Statement, TableChoice, Tls, Workload,
};

use testkit::{Delivery, FakeServer, Reply};

/// Set for the process that is the server, to its family.
const SERVER: &str = "PRONY_TEST_SERVER";

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Held by the test that counts.
static ALONE: Mutex<()> = Mutex::new(());

/// The system's allocator, counted.
struct Counting;

#[expect(unsafe_code, reason = "there is no other way to see every allocation")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what the caller guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what the caller guarantees.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: what the caller guarantees.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: what the caller guarantees.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The other process. Nothing when it runs as a test like any other.
#[test]
fn server_process() {
    let Ok(family) = std::env::var(SERVER) else {
        return;
    };
    testkit::speak(family.parse().unwrap());
    let server = FakeServer::start(Delivery::Whole, |request| {
        if request.sql.starts_with("SELECT") {
            Reply::Rows(3)
        } else {
            Reply::Ok(1)
        }
    });
    eprintln!("{}", serde_json::to_string(&server.address()).unwrap());
    // Who started this keeps its standard input open for as long as it is needed.
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

struct Server(Child);

impl Server {
    fn start(family: Family) -> (Self, Address) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "server_process", "--nocapture"])
            .env(SERVER, family.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = io::BufReader::new(child.stderr.take().unwrap());
        let line = io::BufRead::lines(stderr).next().unwrap().unwrap();
        (Self(child), serde_json::from_str(&line).unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Notes how many allocations there were when the measured time began and ended.
#[derive(Default)]
struct Edges {
    start: u64,
    end: u64,
}

impl Write for Edges {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let now = ALLOCATIONS.load(Ordering::Relaxed);
        let said = |word: &[u8]| line.windows(word.len()).any(|part| part == word);
        if said(b"measure-start") {
            self.start = now;
        } else if said(b"measure-end") {
            self.end = now;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn statement(name: &str, sql: &str, text: Option<&str>) -> Statement {
    let id = Generator::Draw {
        low: "100".parse().unwrap(),
        high: "999".parse().unwrap(),
        distribution: Distribution::Uniform,
        count: None,
    };
    let text = text.map(|digits| ("c", Generator::Digits(digits.into())));
    let params = [("id", id)].into_iter().chain(text);
    Statement {
        weight: None,
        name: name.into(),
        sql: sql.parse().unwrap(),
        row: None,
        repeat: 1,
        table: TableChoice::Random,
        params: params
            .map(|(name, generator)| Param {
                name: name.into(),
                generator,
            })
            .collect(),
        expect: Expect::default(),
        expect_rows: None,
        expect_affected: None,
        change: Change::default(),
    }
}

fn workload() -> Workload {
    let read = "SELECT c FROM {table} WHERE id = {id}";
    let write = "UPDATE {table} SET c = {c} WHERE id = {id}";
    Workload {
        name: "test".into(),
        group: Group::Mixed,
        effect: Effect::None,
        schema: Schema::SBTEST,
        description: String::new(),
        parameters: BTreeMap::new(),
        transaction: true,
        display: Display::Rate,
        text_only: false,
        needs_rows: None,
        statements: vec![
            statement("read", read, None),
            statement("write", write, Some("###-###")),
        ],
    }
}

fn task(backend: Backend, protocol: Protocol, clients: u32, operations: u64) -> DriveTask {
    let dataset = Dataset::sbtest(3, 1000, 1);
    let length = Length::Count { operations };
    DriveTask {
        protocol,
        // What threads say to each other in the end depends on which is done first.
        threads_max: 1,
        warmup_ms: 50,
        interval_ms: 3_600_000,
        ..DriveTask::closed_loop(workload(), clients, dataset, length, backend)
    }
}

/// Allocations in the measured time.
fn allocations(family: Family, address: &Address, task: DriveTask) -> u64 {
    let job = Job {
        family,
        address: address.clone(),
        user: "prony".into(),
        password: String::new(),
        tls: Tls::Off,
        database: "prony".into(),
        task: Task::Drive(Box::new(task)),
    };
    let mut edges = Edges::default();
    prony_load::run(&job, &mut std::io::empty(), &mut edges).unwrap();
    assert!(edges.start > 0 && edges.end > edges.start);
    edges.end - edges.start
}

#[test]
fn nothing_is_allocated_for_a_query() {
    nothing_is_allocated(Family::Mysql);
}

#[test]
fn nothing_is_allocated_for_a_query_of_postgresql() {
    nothing_is_allocated(Family::Postgresql);
}

fn nothing_is_allocated(family: Family) {
    // Allocations are those of the whole process.
    let _alone = ALONE.lock();
    let (_server, address) = Server::start(family);
    for backend in [Backend::Epoll, Backend::IoUring] {
        if let Err(reason) = choose_backend(Some(backend), false) {
            assert!(std::env::var_os("CI").is_none(), "failed to {reason}");
            println!("left out: failed to {reason}");
            continue;
        }
        for protocol in [Protocol::Prepared, Protocol::Text] {
            for clients in [1, 16] {
                let of = |operations| {
                    allocations(
                        family,
                        &address,
                        task(backend, protocol, clients, operations),
                    )
                };
                let (few, many) = (of(400), of(4000));
                assert_eq!(
                    few, many,
                    "{family}, {backend}, {protocol:?}, {clients} clients"
                );
            }
        }
    }
}
