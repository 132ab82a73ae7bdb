//! Instructions counted by running servers in valgrind.
#![allow(clippy::print_stderr, reason = "tests say why they are skipped")]

use std::path::Path;

use prony_client::Connection;
use prony_host::Launcher;
use prony_model::{Engine, StopFlag};
use prony_servers::{Birth, Running, Valgrind};

use crate::birth::Stage;
use crate::{LIMIT, live};

/// Operations before the first reading.
const WARMUP: u64 = 1_000;
/// Operations between two readings.
const OPERATIONS: u64 = 300;
/// Pairs of readings. Background threads work by the clock, so that now and then one reading holds
/// some of their work and the next holds none; the median of pairs that lie close together does not.
const PAIRS: usize = 7;
/// The distance of counts of the same work: they are apart by some thousandths.
const TOLERANCE: f64 = 0.05;

/// A server in valgrind with a small table, and one connection.
struct Counted {
    server: Running,
    load: Connection,
}

impl Counted {
    fn start(stage: &Stage, valgrind: &Valgrind, id: &str) -> Self {
        let birth = Birth {
            on_birth: None,
            valgrind: Some(valgrind.clone()),
        };
        let instance = stage.bootstrapped(id, Engine::Innodb);
        let server = instance.start_with(birth, &StopFlag::default()).unwrap();
        let mut load = Connection::connect(&server.address(), &server.load_login(), LIMIT).unwrap();
        load.query("CREATE TABLE t (id INT PRIMARY KEY) ENGINE = InnoDB")
            .unwrap();
        for id in 0..10 {
            load.query(format!("INSERT INTO t VALUES ({id})")).unwrap();
        }
        let mut counted = Self { server, load };
        counted.ask(WARMUP);
        counted
    }

    fn ask(&mut self, operations: u64) {
        for operation in 0..operations {
            let sql = format!("SELECT id FROM t WHERE id = {}", operation % 10);
            assert_eq!(self.load.query(sql).unwrap().rows.len(), 1);
        }
    }

    /// Instructions of so many operations.
    fn instructions(&mut self, operations: u64) -> f64 {
        let callgrind = self.server.callgrind().unwrap().clone();
        callgrind.zero().unwrap();
        self.ask(operations);
        sum_of(&callgrind.counts().unwrap()) as f64
    }

    fn stop(self) {
        drop(self.load);
        self.server.stop(LIMIT).unwrap();
    }
}

/// The sum of all threads, by the line with which each file ends.
fn sum_of(counts: &[Vec<u8>]) -> u64 {
    let totals = |counts: &Vec<u8>| -> u64 {
        let text = String::from_utf8_lossy(counts);
        let line = text
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("totals:"));
        line.unwrap().trim().parse().unwrap()
    };
    counts.iter().map(totals).sum()
}

fn assert_near(found: f64, expected: f64) {
    let ratio = found / expected;
    assert!((ratio - 1.0).abs() <= TOLERANCE, "{found} for {expected}");
}

fn median(mut figures: [f64; PAIRS]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[PAIRS / 2]
}

/// The tool that tests of this kind need besides servers; `None`, with the reason printed, where it
/// is not
/// there.
fn valgrind() -> Option<Valgrind> {
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
    Valgrind::find(&Launcher::new(guard).unwrap())
        .inspect_err(|error| eprintln!("skipped: failed to {error}"))
        .ok()
}

/// One build with a loader of its own, one without, and one that has to be told to do without what
/// valgrind can't run.
#[test]
fn equal_work_takes_equally_many_instructions() {
    let Some(valgrind) = live().then(valgrind).flatten() else {
        return;
    };
    let stage = Stage::new();
    for id in ["mysql-5.0.21", "mysql-5.7.22", "mariadb-10.11"] {
        let mut server = Counted::start(&stage, &valgrind, id);
        let ratios = [(); PAIRS].map(|()| {
            let once = server.instructions(OPERATIONS);
            let twice = server.instructions(2 * OPERATIONS);
            assert!(once > 10_000.0 * OPERATIONS as f64, "{id}: {once}");
            twice / once
        });
        println!("{id}: twice the work takes so many times the instructions: {ratios:?}");
        assert_near(median(ratios), 2.0);
        server.stop();
    }
}
