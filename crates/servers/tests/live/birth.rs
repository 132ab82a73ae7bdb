//! Something done to servers before their first instruction.

use std::fs;
use std::path::Path;

use prony_model::{Config, Engine, StopFlag};
use prony_servers::{
    Birth, Catalogue, Depot, Instance, InstanceError, Launcher, Roots, Running, Wanted,
};

use crate::{LIMIT, ask, live};

/// One that is given to a loader of its own, and one that is executed itself.
const BUILDS: [&str; 2] = ["mysql-5.0.21", "mysql-5.7.22"];

/// Starts a fresh server; `on_birth` is given its process id.
fn bear(
    id: &str,
    scratch: &Roots,
    on_birth: &mut dyn FnMut(u32) -> Result<(), String>,
) -> Result<Running, InstanceError> {
    let fetched = Roots::from_environment().unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/guard");
    let launcher = Launcher::new(guard).unwrap();
    let stop = StopFlag::default();
    let depot = Depot::new(&fetched, &catalogue, &launcher);
    let build = depot.fetch(id, &stop, &mut |_| ()).unwrap();
    let config = Config::default();
    let wanted = Wanted::over_socket(Engine::Innodb, &config, 4);
    let rendered = catalogue.render(&build.facts, wanted).unwrap();
    let mut instance = Instance::create(scratch, &launcher, &build, &rendered).unwrap();
    instance.bootstrap(&stop).unwrap();
    let birth = Birth {
        on_birth: Some(on_birth),
    };
    instance.start_with(birth, &stop)
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
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    for id in BUILDS {
        let mut born = None;
        let server = bear(id, &roots, &mut |pid| {
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
        let data = ask(&server, &server.admin_login(), "SELECT @@datadir");
        let (data, known) = (Path::new(&data).canonicalize(), server.data_dir());
        assert_eq!(data.unwrap(), known.canonicalize().unwrap(), "{id}");
        server.stop(LIMIT).unwrap();
    }
}

#[test]
fn a_server_whose_birth_fails_is_never_executed() {
    if !live() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    for id in BUILDS {
        let mut born = None;
        let error = bear(id, &roots, &mut |pid| {
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
