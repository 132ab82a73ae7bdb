//! The null server and what is measured against it: calibrating, thousands of connections, and a
//! server of known capacity that is asked for twice as much.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_load::{DriveTask, Job, Message, Task};
use prony_model::{
    Address, Backend, Dataset, Length, Pace, Spacing, StepOutcome, Thousandths, Tls,
};
use prony_plan::embedded_workloads;
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process};
use serde_json::Value;
use support::{Watched, children_of, finish, prony, wait_for};

/// A null server of its own; ended when dropped.
struct Null {
    child: Child,
    socket: PathBuf,
}

impl Null {
    fn start(folder: &Path, service_us: u64) -> Self {
        let socket = folder.join("null");
        let arguments = ["null", "--socket", socket.to_str().unwrap()];
        let mut child = prony(folder, &arguments)
            .args(["--service-us", &service_us.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        Self { child, socket }
    }

    /// Drives it to the end of a task.
    fn drive(&self, folder: &Path, task: DriveTask) -> StepOutcome {
        let job = Job {
            family: prony_model::Family::Mysql,
            address: Address::Unix(self.socket.clone()),
            user: "anybody".into(),
            password: "any password".into(),
            tls: Tls::Off,
            database: "sbtest".into(),
            task: Task::Drive(Box::new(task)),
        };
        let mut child = prony(folder, &["generator"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // It stays open: its end would end the generator.
        writeln!(input, "{}", serde_json::to_string(&job).unwrap()).unwrap();
        let mut said = String::new();
        let mut output = child.stdout.take().unwrap();
        output.read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
        let last = said.lines().last().unwrap();
        match serde_json::from_str(last).unwrap() {
            Message::Done { outcome } => *outcome,
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        // It may have ended, as tests want it to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Point queries.
fn task(clients: u32, length: Length) -> DriveTask {
    let workloads = embedded_workloads().unwrap();
    let workload = workloads.into_iter().find(|one| one.name == "point-query");
    let dataset = Dataset::sbtest(1, 1_000_000, 1);
    DriveTask::closed_loop(workload.unwrap(), clients, dataset, length, Backend::Epoll)
}

fn histogram(bytes: &[u8]) -> Histogram<u64> {
    Deserializer::new().deserialize(&mut &*bytes).unwrap()
}

/// The number at a path of keys and indexes.
fn number(json: &Value, pointer: &str) -> f64 {
    let value = json.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{pointer} in {json}"))
}

#[test]
fn an_unusual_calibration_is_printed_and_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let arguments = "calibrate --backend epoll --time 100ms --clients 1,64 --format json";
    let mut command = prony(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
    command.env("PRONY_CACHE", &cache);
    let finished = finish(command)
        .exits(0)
        .says(&["epoll, 64 clients: ", "will not be stored"]);
    let json: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(json["closed"].as_array().unwrap().len(), 4);
    for (index, family, clients, threads) in [
        (0, "mysql", 1, 1),
        (1, "mysql", 64, 2),
        (2, "postgresql", 1, 1),
        (3, "postgresql", 64, 2),
    ] {
        let at = |name: &str| number(&json, &format!("/closed/{index}/{name}"));
        let point = &json["closed"][index];
        assert_eq!(point["family"], family);
        assert_eq!(point["clients"], clients);
        assert_eq!(point["threads"], threads);
        let queries = at("counts/queries");
        let wall_ns = at("counts/wall_ns");
        assert!(queries > 0.0 && wall_ns >= 100e6, "{json}");
        let client_ns = at("counts/client_user_ns") + at("counts/client_system_ns");
        assert!(client_ns > 0.0 && at("counts/server_ns") > 0.0, "{json}");
        let rate = queries / wall_ns * 1e9;
        let shown = at("figures/queries_per_second");
        assert!((shown / rate - 1.0).abs() < 1e-6, "{shown} {rate}");
        // A tenth of a second is too short for the kernel's figures to show a disturbance.
        assert!(at("host/wall_ns") >= 100e6 && at("host/own_ns") > 0.0);
        assert_eq!(point["taken"]["disturbed"], false);
        assert_eq!(point["taken"]["others"], Value::Null);
    }
    assert_eq!(json["wake_ups"], Value::Null);
    assert_eq!(json["noise"], Value::Array(vec![]));
    assert_eq!(json["open"].as_array().unwrap().len(), 1);
    let at = |name: &str| number(&json, &format!("/open/0/{name}"));
    assert_eq!(json["open"][0]["clients"], 8);
    assert_eq!(json["open"][0]["rate"], 10_000.0);
    let planned = json["open"][0]["planned"].as_u64().unwrap();
    let queries = json["open"][0]["counts"]["queries"].as_u64();
    assert!((999..=1_001).contains(&planned), "{json}");
    assert_eq!(queries, Some(planned));
    assert!(at("schedule_error_us/p50") <= at("schedule_error_us/max"));
    // A thousand operations are too few for it.
    assert!(json["open"][0]["schedule_error_us"]["p99"].is_null());

    assert!(!cache.join("calibration.json").exists());
    // The folder of the null server is gone.
    let left = std::fs::read_dir(cache.join("instances")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_calibration_with_all_usual_points_is_kept() {
    const CLIENTS: u64 = 1_000;
    let limit = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    if limit < CLIENTS + 100 {
        println!("skipped: the hard limit of open files is {limit}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let file = cache.join("calibration.json");
    let calibrate = |arguments: &str| {
        let mut command = prony(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
        command.env("PRONY_CACHE", &cache);
        finish(command).exits(0)
    };
    let first = calibrate("calibrate --time 500ms --format json");
    assert!(
        !first.stderr.contains("will not be stored"),
        "{}",
        first.stderr
    );
    let json: Value = serde_json::from_str(&first.stdout).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let kept: Value = serde_json::from_slice(&bytes).unwrap();
    let calibration = &kept["calibration"];
    assert_eq!(calibration["made_at_ms"], json["made_at_ms"]);
    let closed = calibration["closed"].as_array().unwrap();
    assert!(closed.iter().any(|point| point["clients"] == CLIENTS));
    check_noise(&json);
    let experiment = support::workspace().join("experiments/quickstart.toml");
    let mut plan = prony(folder.path(), &["plan", experiment.to_str().unwrap()]);
    plan.env("PRONY_CACHE", &cache);
    let plan = finish(plan).exits(0).stdout;
    assert!(plan.contains("Expected half-width"), "{plan}");
    calibrate("calibrate --time 10ms --clients 1").says(&["will not be stored"]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

/// The windows of both loops fill the time, and every point of half a second knows its processors.
#[track_caller]
fn check_noise(json: &Value) {
    let noise = json["noise"].as_array().unwrap();
    assert_eq!(noise.len(), 2);
    for point in noise {
        assert!(point["windows"].as_array().unwrap().len() >= 16, "{point}");
        assert!(point["deviations"][1]["log_deviation"].as_f64().unwrap() > 0.0);
    }
    for point in json["closed"].as_array().unwrap() {
        let others = point["taken"]["others"].as_f64();
        assert!((0.0..=1.0).contains(&others.unwrap()), "{point}");
    }
    assert!(number(json, "/wake_ups/same/wall_us") > 0.0);
}

#[test]
fn calibrating_can_be_interrupted() {
    for (sent, code, to_all) in [(Signal::INT, 130, false), (Signal::TERM, 143, true)] {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let mut command = prony(folder.path(), &["calibrate", "--time", "10m"]);
        command.env("PRONY_CACHE", &cache);
        let calibration = Watched::start(command);
        wait_for("the load generator", Duration::from_mins(1), || {
            let children = children_of(calibration.id());
            children
                .iter()
                .any(|(_, command)| command.ends_with("generator "))
                .then_some(())
        });
        if to_all {
            calibration.signal_children(sent);
        }
        calibration.signal(sent);
        calibration.end().exits(code).says(&["interrupted"]);
        assert!(!cache.join("calibration.json").exists());
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        (["calibrate", "--clients", "1,0"], "0"),
        (["calibrate", "--time", "0s"], "longer than 0"),
        (["calibrate", "--backend", "select"], "io-uring"),
    ] {
        finish(prony(folder.path(), &arguments))
            .exits(2)
            .says(&[word]);
    }
}

#[test]
fn the_null_server_ends_when_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut null = Null::start(folder.path(), 0);
    assert!(null.socket.exists());
    let taken = ["null", "--socket", null.socket.to_str().unwrap()];
    finish(prony(folder.path(), &taken))
        .exits(5)
        .says(&["failed to listen on", "null"]);
    let pid = Pid::from_child(&null.child);
    kill_process(pid, Signal::TERM).unwrap();
    assert!(null.child.wait().unwrap().success());
    assert!(!null.socket.exists());
}

#[test]
fn ten_thousand_clients() {
    const CLIENTS: u32 = 10_000;
    const OPERATIONS: u64 = 30_001;
    let limit = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    if limit < u64::from(CLIENTS) + 100 {
        println!("skipped: the hard limit of open files is {limit}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let null = Null::start(folder.path(), 0);
    let length = Length::Count {
        operations: OPERATIONS,
    };
    let outcome = null.drive(folder.path(), task(CLIENTS, length));
    let own = outcome.groups.own();
    assert_eq!(own.clients, CLIENTS);
    assert_eq!(own.operations, OPERATIONS);
    assert_eq!(own.queries, OPERATIONS);
    assert_eq!(own.statements[0].rows, OPERATIONS);
    assert!(own.errors.is_empty(), "{:?}", own.errors);
}

/// A server that can do 2000 operations per second is sent 4000 for two seconds.
///
/// Nothing here needs a quiet machine: the server is never faster than its capacity, and all that is
/// expected follows from that, however often it, or the generator, had to wait for a processor.
#[test]
fn twice_the_capacity_makes_a_backlog_and_no_longer_service() {
    const SERVICE_S: f64 = 500e-6;
    const RATE: u32 = 4_000;
    const TIME_S: f64 = 2.0;
    const CLIENTS: u32 = 8;
    let folder = tempfile::tempdir().unwrap();
    let null = Null::start(folder.path(), 500);
    let mut overload = task(CLIENTS, Length::Time { ms: 2_000 });
    overload.drain_ms = 60_000;
    overload.groups.own_mut().pace = Pace::Open {
        rate: Thousandths(RATE * 1_000),
        spacing: Spacing::Regular,
    };
    let outcome = null.drive(folder.path(), overload);
    let own = outcome.groups.own();
    let schedule = own.schedule.as_ref().unwrap();

    // Every operation that was planned is done, and only those.
    assert!((7_999..=8_001).contains(&schedule.planned));
    assert_eq!((schedule.left, own.operations), (0, schedule.planned));
    assert!(own.errors.is_empty(), "{:?}", own.errors);
    let response = histogram(&schedule.response);
    let service = histogram(&own.histogram);
    assert_eq!(response.len(), schedule.planned);
    assert_eq!(service.len(), schedule.planned);

    // The server takes its time for each of them.
    let planned = schedule.planned as f64;
    let took_s = (outcome.end_ns - outcome.start_ns) as f64 / 1e9;
    let capacity_s = planned * SERVICE_S;
    at_least(took_s, capacity_s);

    // More than its capacity was not served in the measured time; what is under way has begun. A
    // thread that comes late to count the backlog may have let each client begin once more.
    let served = TIME_S / SERVICE_S;
    let begun = served + 2.0 * f64::from(CLIENTS);
    let backlog = schedule.backlog as f64;
    at_least(backlog, planned - begun);
    let ended = outcome.groups.own().intervals.iter();
    let ended = ended.filter(|interval| interval.end_ns as f64 <= TIME_S * 1e9);
    let ended: u64 = ended.map(|interval| interval.operations).sum();
    assert!(schedule.backlog <= schedule.planned - ended);

    // The operation that ended last was due when the measured time was over, or earlier, and none
    // was due before it began.
    let longest_s = response.max() as f64 / 1e9;
    at_least(longest_s, took_s - TIME_S);
    at_least(took_s, longest_s);

    // The operation that ends as number n ends n service times after the start at least, and the
    // mean of the times at which they are due is the middle of the measured time.
    at_least(response.mean() / 1e9, (capacity_s - TIME_S) / 2.0);

    // Each client has one operation under way at most, so that service takes no longer on average
    // than all clients together had for one operation each (Little's law).
    at_least(f64::from(CLIENTS) * took_s / planned, service.mean() / 1e9);
}

/// Not less, but for the hundredth that histograms and the edges of measured times may take.
#[track_caller]
fn at_least(value: f64, least: f64) {
    assert!(value >= 0.99 * least, "{value} is less than {least}");
}
