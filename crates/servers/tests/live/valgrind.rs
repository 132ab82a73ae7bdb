//! Instructions counted by running servers in valgrind.
#![allow(clippy::print_stderr, reason = "tests say why they are skipped")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use prony_client::Connection;
use prony_host::Launcher;
use prony_model::{Engine, StopFlag};
use prony_servers::{Birth, Running, Valgrind};
use tempfile::TempDir;

use crate::birth::Stage;
use crate::{LIMIT, live};

/// Operations before the first reading.
const WARMUP: u64 = 1_000;
/// Operations between two readings.
const OPERATIONS: u64 = 300;
/// Pairs of readings. Background threads work by the clock, so that now and then one reading holds
/// some of their work and the next holds none; the median of pairs that lie close together does not.
const PAIRS: usize = 7;
/// Instructions that the library burns for every answer.
const BURN: u64 = 50_000;
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
        callgrind.instructions().unwrap() as f64
    }

    fn stop(self) {
        drop(self.load);
        self.server.stop(LIMIT).unwrap();
    }
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

/// A folder with a library that burns instructions when [wished](wish_burning), and a guard that has
/// it loaded.
fn burning() -> Option<TempDir> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        eprintln!("skipped: the library is written for processors of the x86 kind");
        return None;
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folder = tempfile::tempdir().unwrap();
    let compiled = Command::new("cc")
        .args(["-O1", "-fPIC", "-shared", &format!("-DBURN={BURN}"), "-o"])
        .arg(folder.path().join("burn.so"))
        .arg(fixtures.join("burn.c"))
        .status();
    match compiled {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            eprintln!("skipped: no C compiler `cc`: {error}");
            return None;
        }
    }
    symlink(fixtures.join("guard-burning"), folder.path().join("guard")).unwrap();
    wish_burning(&folder, false);
    Some(folder)
}

/// Over what is there, never by making the file empty first: the server has it mapped.
fn wish_burning(folder: &TempDir, burns: bool) {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.path().join("burn"))
        .unwrap();
    file.write_all(&[u8::from(burns)]).unwrap();
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

#[test]
fn a_known_cost_for_every_answer_is_found() {
    let Some(valgrind) = live().then(valgrind).flatten() else {
        return;
    };
    let Some(folder) = burning() else {
        return;
    };
    let stage = Stage::guarded_by(folder.path().join("guard"));
    for id in ["mysql-5.7.22", "mysql-8.0.31"] {
        let mut server = Counted::start(&stage, &valgrind, id);
        let costs = [(); PAIRS].map(|()| {
            let [usual, burning] = [false, true].map(|burns| {
                wish_burning(&folder, burns);
                server.instructions(OPERATIONS)
            });
            (burning - usual) / OPERATIONS as f64
        });
        wish_burning(&folder, false);
        server.stop();
        println!("{id}: {costs:?} instructions per query more with {BURN} more per answer");
        assert_near(median(costs), BURN as f64);
    }
}
