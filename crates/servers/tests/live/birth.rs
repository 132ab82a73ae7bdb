//! Something done to servers before their first instruction.

use std::fs;
use std::path::Path;
use std::time::Instant;

use prony_host::{Launcher, Roots};
use prony_model::{Config, Engine, StopFlag};
use prony_servers::{Birth, Catalogue, Depot, Instance, InstanceError, OnBirth, Running, Wanted};
use tempfile::TempDir;

use crate::{LIMIT, live};

/// One that is given to a loader of its own, and one that is executed itself.
const BUILDS: [&str; 2] = ["mysql-5.0.21", "mysql-5.7.22"];

/// A place for fresh servers, of the builds of the usual cache.
pub(crate) struct Stage {
    catalogue: Catalogue,
    fetched: Roots,
    launcher: Launcher,
    scratch: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
        Self {
            catalogue: Catalogue::embedded().unwrap(),
            fetched: Roots::from_environment().unwrap(),
            launcher: Launcher::new(guard).unwrap(),
            scratch: tempfile::tempdir().unwrap(),
        }
    }

    /// An instance with an empty data directory.
    pub(crate) fn bootstrapped(&self, id: &str, engine: Engine) -> Instance {
        let stop = StopFlag::default();
        let depot = Depot::new(&self.fetched, &self.catalogue, &self.launcher);
        let build = depot.fetch(id, &stop, &mut |_| ()).unwrap();
        let config = Config::default();
        let wanted = Wanted::over_socket(engine, &config, 4);
        let rendered = self.catalogue.render(&build.facts, wanted).unwrap();
        let roots = Roots {
            cache: self.scratch.path().to_owned(),
        };
        let mut instance = Instance::create(&roots, &self.launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        instance
    }

    /// Starts a fresh server; `on_birth` is given its process id.
    fn bear(&self, id: &str, on_birth: &mut OnBirth<'_>) -> Result<Running, InstanceError> {
        let birth = Birth {
            on_birth: Some(on_birth),
            valgrind: None,
        };
        let instance = self.bootstrapped(id, Engine::Innodb);
        instance.start_with(birth, &StopFlag::default())
    }
}

fn command_line(pid: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&line).into_owned())
}

#[test]
fn the_process_of_the_birth_becomes_the_server() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    for id in BUILDS {
        let mut born = None;
        let server = stage
            .bear(id, &mut |pid| {
                born = command_line(pid).map(|line| (pid, line));
                Ok(())
            })
            .unwrap();
        let (pid, before) = born.unwrap();
        assert_eq!(server.pid(), pid, "{id}");
        assert!(before.contains("guard"), "{id}: {before}");
        let now = command_line(pid).unwrap();
        assert!(!now.contains("guard"), "{id}: {now}");
        let input = fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
        assert_eq!(input, Path::new("/dev/null"), "{id}");
        assert!(server.data_dir().join("ibdata1").is_file(), "{id}");
        server.stop(LIMIT).unwrap();
    }
}

#[test]
fn a_server_whose_birth_fails_is_never_executed() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    for id in BUILDS {
        let mut born = None;
        let error = stage
            .bear(id, &mut |pid| {
                born = Some(pid);
                Err("nobody may look".to_owned())
            })
            .unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains(id) && said.ends_with("nobody may look"),
            "{said}"
        );
        assert_eq!(command_line(born.unwrap()), None, "{id}");
    }
}

#[test]
fn who_is_refused_for_good_does_not_ask_on() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let instance = stage.bootstrapped("postgresql-18.6", Engine::Heap);
    let accounts = instance.config_path().with_file_name("pg_hba.conf");
    let birth = Birth {
        on_birth: Some(&mut |_| {
            fs::write(&accounts, "local all all reject\n").map_err(|error| error.to_string())
        }),
        valgrind: None,
    };
    let begin = Instant::now();
    let error = instance.start_with(birth, &StopFlag::default());
    let said = error.unwrap_err().to_string();
    assert!(
        said.contains("28000") && said.contains("pg_hba.conf"),
        "{said}"
    );
    assert!(
        begin.elapsed() < LIMIT,
        "the time that a server may take to start"
    );
}
