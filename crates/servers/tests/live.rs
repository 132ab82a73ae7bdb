//! Real servers of every way to bootstrap: made, started, filled, kept as an image, started again
//! from it, and killed.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

#[path = "live/birth.rs"]
mod birth;
#[path = "live/configuration.rs"]
mod configuration;
#[path = "live/network.rs"]
mod network;
#[path = "live/status.rs"]
mod status;
#[path = "live/valgrind.rs"]
mod valgrind;

#[path = "../../../tests/live_gate.rs"]
mod live_gate;

use std::path::Path;
use std::time::{Duration, Instant};

use live_gate::live;
use prony_client::{Connection, Login};
use prony_host::{Launcher, Roots};
use prony_model::{Config, Dataset, Engine, StopFlag};
use prony_servers::{Catalogue, Depot, ImageRecord, Images, Instance, Running, Wanted};

/// One build for every way to bootstrap and every kind of loader.
const BUILDS: [&str; 5] = [
    "mysql-5.0.21",
    "mysql-5.6.24",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-10.11",
];
const LIMIT: Duration = Duration::from_mins(1);

fn ask(server: &Running, login: &Login, sql: &str) -> String {
    let mut connection = Connection::connect(&server.address(), login, LIMIT).unwrap();
    let answer = connection.query(sql).unwrap();
    answer.single().unwrap_or_default().to_owned()
}

#[test]
fn servers_come_up_again_from_their_images() {
    if !live() {
        return;
    }
    let fetched = Roots::from_environment().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    let catalogue = Catalogue::embedded().unwrap();
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
    let launcher = Launcher::new(guard).unwrap();
    let stop = StopFlag::default();
    let dataset = Dataset::sbtest(1, 1, 1);
    for id in BUILDS {
        let depot = Depot::new(&fetched, &catalogue, &launcher);
        let build = depot.fetch(id, &stop, &mut |_| ()).unwrap();
        let rendered = catalogue
            .render(
                &build.facts,
                Wanted::over_socket(Engine::Innodb, &Config::default(), 4),
            )
            .unwrap();
        let images = Images::new(&roots);
        let key = images.key(&build, &rendered, Engine::Innodb, &dataset);

        let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        let server = instance.start(&stop).unwrap();
        let version = ask(&server, &server.admin_login(), "SELECT VERSION()");
        assert!(build.answers_with(&version), "{id} answers {version}");
        let accounts = "SELECT COUNT(*) FROM mysql.user \
                        WHERE User = '' OR (User = 'root' AND Host <> 'localhost')";
        assert_eq!(ask(&server, &server.admin_login(), accounts), "0", "{id}");
        let load = server.load_login();
        ask(&server, &load, "CREATE TABLE kept (n INT) ENGINE = InnoDB");
        ask(&server, &load, "INSERT INTO kept VALUES (42)");
        let stopped = server.stop(LIMIT).unwrap();
        let image = images
            .publish(
                stopped,
                &key,
                ImageRecord {
                    engine: Engine::Innodb,
                    dataset,
                    load: None,
                    settle: None,
                },
            )
            .unwrap();

        let instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        images.restore(&image, &instance).unwrap();
        let mut server = instance.start(&stop).unwrap();
        let login = server.load_login();
        assert_eq!(login.password, load.password, "{id}");
        assert_eq!(ask(&server, &login, "SELECT n FROM kept"), "42", "{id}");

        let pid = server.pid();
        kill(pid);
        let begin = Instant::now();
        let died = loop {
            if let Err(died) = server.check() {
                break died;
            }
            assert!(begin.elapsed() < LIMIT, "{id} outlived SIGKILL");
        };
        assert!(died.status.contains("signal 9"), "{id}: {died}");
        assert!(!died.log_tail.is_empty(), "{id}");
        drop(server);
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{id}");
    }
    let instances = scratch.path().join("instances");
    assert_eq!(std::fs::read_dir(instances).unwrap().count(), 0);
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
