use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use prony_model::{
    BuildFacts, Engine, Family, OptionOrigin, ProcessSettings, RenderedOption, Transport, Version,
};

use super::*;
use crate::build::catalogue::{Bootstrap, Shutdown};
use crate::image::{ImageRecord, Images};
use crate::testing::{Stage, test_program};

/// A build on the stage whose server program is a shell script.
fn build(stage: &Stage, script: &str, bootstrap: Bootstrap) -> ServerBuild {
    stage.write("server.sh", script);
    stage.write("build/template/mysql/user.frm", "table");
    // A test may make several of them.
    let _ = fs::remove_file(stage.path("build/server"));
    symlink(test_program("server"), stage.path("build/server")).unwrap();
    ServerBuild {
        id: "it".into(),
        facts: BuildFacts {
            id: "it".into(),
            family: Family::Mysql,
            version: Version::new(8, 0, 31),
            engines: vec![Engine::Innodb],
            engine_options: BTreeMap::new(),
            lacks: Vec::new(),
            caution: None,
            compiled: None,
            no_valgrind: None,
        },
        version_text: "8.0.31".into(),
        content_hash: String::new(),
        artefacts: Vec::new(),
        root: stage.path("build"),
        program: stage.path("build/server"),
        loader: None,
        libraries: vec![stage.path("lib-a"), stage.path("lib-b")],
        bootstrap,
        shutdown: Shutdown::Signal,
        preload: None,
        locations: [("basedir".to_owned(), stage.path("build"))].into(),
    }
}

fn rendered() -> Rendered {
    Rendered {
        options: vec![RenderedOption {
            name: "skip-networking".into(),
            value: None,
            origin: OptionOrigin::Baseline,
            intent: None,
            why: "quiet".into(),
        }],
        transport: Transport::Socket,
        tls: false,
        process: ProcessSettings::default(),
    }
}

fn instance(stage: &Stage, script: &str, bootstrap: Bootstrap) -> Instance {
    let build = build(stage, script, bootstrap);
    Instance::create(&stage.roots, &stage.launcher, &build, &rendered()).unwrap()
}

fn never() -> StopFlag {
    StopFlag::default()
}

/// A server that is told no address listens on all of them.
#[test]
fn a_server_for_the_network_listens_on_loopback_until_an_address_is_named() {
    let stage = Stage::with_clients(&[]);
    let build = build(&stage, "", Bootstrap::InitializeInsecure);
    let rendered = Rendered {
        transport: Transport::Network,
        ..rendered()
    };
    let mut instance = Instance::create(&stage.roots, &stage.launcher, &build, &rendered).unwrap();
    instance.take_port().unwrap();
    let config = std::fs::read_to_string(instance.config_path()).unwrap();
    assert!(
        config.contains("bind-address=127.0.0.1\nskip-name-resolve\n"),
        "{config}"
    );
}

/// An instance of a server of PostgreSQL.
fn postgresql(stage: &Stage, transport: Transport, tls: bool) -> Result<Instance, InstanceError> {
    let mut build = build(stage, "", Bootstrap::InitializeInsecure);
    build.facts.family = Family::Postgresql;
    let rendered = Rendered {
        options: Vec::new(),
        transport,
        tls,
        ..rendered()
    };
    Instance::create(&stage.roots, &stage.launcher, &build, &rendered)
}

fn read(instance: &Instance, name: &str) -> String {
    fs::read_to_string(instance.path(name)).unwrap()
}

#[test]
fn only_the_load_logs_in_to_postgresql_over_tcp() {
    let stage = Stage::with_clients(&[]);
    let mut instance = postgresql(&stage, Transport::Socket, false).unwrap();
    instance.take_port().unwrap();
    assert_eq!(read(&instance, "pg_hba.conf"), "local all all trust\n");
    let config = read(&instance, "postgresql.conf");
    assert!(config.contains("listen_addresses = ''\n"), "{config}");
    let longest = instance.socket();

    let mut instance = postgresql(&stage, Transport::Tcp, false).unwrap();
    instance.take_port().unwrap();
    assert_eq!(
        read(&instance, "pg_hba.conf"),
        "local all all trust\nhost prony prony 127.0.0.1/32 md5\n"
    );
    let port = instance.listens_on.unwrap().port();
    let config = read(&instance, "postgresql.conf");
    let expected = format!("listen_addresses = '127.0.0.1'\nport = {port}\n");
    assert!(config.ends_with(&expected), "{config}");
    let name = format!(".s.PGSQL.{port}");
    assert_eq!(instance.socket(), instance.path(&name));
    assert_eq!(
        longest.file_name().unwrap().len(),
        name.len(),
        "a path that fits before it has a port fits after"
    );
}

#[test]
fn postgresql_encrypts_over_tcp_and_never_over_its_socket() {
    let stage = Stage::with_clients(&[]);
    let mut instance = postgresql(&stage, Transport::Tcp, true).unwrap();
    instance.take_port().unwrap();
    let accounts = read(&instance, "pg_hba.conf");
    let expected = "hostssl prony prony 127.0.0.1/32 md5\n";
    assert!(accounts.ends_with(expected), "{accounts}");
    let config = stage.redact(&read(&instance, "postgresql.conf"));
    for line in ["ssl_cert_file = '", "ssl_key_file = '"] {
        assert!(config.contains(line), "{line}: {config}");
    }
    let refused = postgresql(&stage, Transport::Socket, true).unwrap_err();
    let message = refused.to_string();
    assert!(
        message.contains("no connections over unix sockets"),
        "{message}"
    );
}

#[test]
fn postgresql_for_the_network_admits_one_host() {
    let stage = Stage::with_clients(&[]);
    let instance = postgresql(&stage, Transport::Network, true).unwrap();
    let named = "127.0.0.2".parse().unwrap();
    let mut instance = instance.listening_on(&stage.roots, named).unwrap();
    instance.take_port().unwrap();
    assert_eq!(read(&instance, "pg_hba.conf"), "local all all trust\n");
    postgres::write_accounts(&instance, Some("::7".parse().unwrap())).unwrap();
    assert_eq!(
        read(&instance, "pg_hba.conf"),
        "local all all trust\nhostssl prony prony ::7/128 md5\n"
    );
}

#[test]
fn the_folder_is_private_and_goes_with_the_instance() {
    let stage = Stage::with_clients(&[]);
    let instance = instance(&stage, "", Bootstrap::InitializeInsecure);
    let folder = instance.folder.path().to_owned();
    for path in [folder.clone(), folder.join("tmp")] {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    let text = fs::read_to_string(instance.config_path()).unwrap();
    let text = stage.redact(&text).replace("user=root\n", "");
    insta::assert_snapshot!("config", text);
    drop(instance);
    assert!(!folder.exists());
}

#[test]
fn a_path_that_is_too_long_for_a_socket_is_said() {
    let mut stage = Stage::with_clients(&[]);
    stage.roots.cache = stage.roots.cache.join("x".repeat(120));
    let build = build(&stage, "", Bootstrap::InitializeInsecure);
    let error = Instance::create(&stage.roots, &stage.launcher, &build, &rendered()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("107") && message.contains("PRONY_CACHE"),
        "{message}"
    );
    assert_eq!(fs::read_dir(stage.roots.instances()).unwrap().count(), 0);
}

#[test]
fn a_template_is_copied() {
    let stage = Stage::with_clients(&[]);
    let mut instance = instance(&stage, "exit 9", Bootstrap::Template("template".into()));
    instance.bootstrap(&never()).unwrap();
    let copied = fs::read(instance.data_dir().join("mysql/user.frm")).unwrap();
    assert_eq!(copied, b"table");
}

#[test]
fn bootstrap_by_sql_feeds_the_files_in_order() {
    let stage = Stage::with_clients(&[]);
    let script = "echo \"$*\" \"$LD_LIBRARY_PATH\"; cat";
    let files = vec!["a.sql".into(), "b.sql".into()];
    let mut instance = instance(&stage, script, Bootstrap::Sql(files));
    stage.write("build/a.sql", "one;");
    stage.write("build/b.sql", "two;");
    instance.bootstrap(&never()).unwrap();
    assert_eq!(
        stage.redact(&instance.log_tail(9)),
        "--defaults-file=STAGE/cache/instances/N/my.cnf --bootstrap \
         --default-storage-engine=MyISAM --net_buffer_length=16384 STAGE/lib-a:STAGE/lib-b\n\
         use mysql;\none;\ntwo;"
    );
    assert!(instance.data_dir().join("mysql").is_dir());
    assert!(!instance.path("bootstrap.sql").exists());
}

#[test]
fn a_server_that_fails_is_quoted() {
    let stage = Stage::with_clients(&[]);
    let script = "echo 'no room on this disk' >&2; exit 3";
    let mut failing = instance(&stage, script, Bootstrap::InitializeInsecure);
    let error = failing.bootstrap(&never()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bootstrap it: the server ended with exit code 3"
    );
    assert_eq!(error.log_tail(), Some("no room on this disk"));
    let error = failing.start(&never()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "start it: the server ended with exit code 3"
    );
    assert!(error.log_tail().unwrap().ends_with("no room on this disk"));
    assert_eq!(fs::read_dir(stage.roots.instances()).unwrap().count(), 0);
}

#[test]
fn a_crash_says_its_signal() {
    let stage = Stage::with_clients(&[]);
    let failing = instance(&stage, "kill -11 $$", Bootstrap::InitializeInsecure);
    let error = failing.start(&never()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "start it: the server was killed by signal 11"
    );
}

#[test]
fn stopping_does_not_wait_for_a_silent_server() {
    let stage = Stage::with_clients(&[]);
    let stop = never();
    stop.request();
    let script = "sleep 600";
    let mut silent = instance(&stage, script, Bootstrap::InitializeInsecure);
    assert!(matches!(
        silent.bootstrap(&stop),
        Err(InstanceError::Stopped)
    ));
    assert!(matches!(silent.start(&stop), Err(InstanceError::Stopped)));
    assert_eq!(fs::read_dir(stage.roots.instances()).unwrap().count(), 0);
}

/// Starts a server that writes its process id and ends; returns what `on_birth` was told, and what
/// came of it.
fn bear_on(
    stage: &Stage,
    on_birth: &mut OnBirth<'_>,
) -> (Option<u32>, Result<Running, InstanceError>) {
    let born = stage.path("born");
    let script = format!("echo $$ >{}; exit 3", born.display());
    let instance = instance(stage, &script, Bootstrap::InitializeInsecure);
    let mut told = None;
    let mut on_birth = |pid| {
        told = Some(pid);
        std::thread::sleep(Duration::from_millis(50));
        assert!(!born.exists(), "the server began before its birth was over");
        on_birth(pid)
    };
    let birth = Birth {
        on_birth: Some(&mut on_birth),
        valgrind: None,
    };
    let started = instance.start_with(birth, &never());
    (told, started)
}

#[test]
fn a_server_begins_when_its_birth_is_over() {
    let stage = Stage::with_clients(&[]);
    let (told, started) = bear_on(&stage, &mut |_| Ok(()));
    assert_eq!(
        started.unwrap_err().to_string(),
        "start it: the server ended with exit code 3"
    );
    let born = fs::read_to_string(stage.path("born")).unwrap();
    assert_eq!(born.trim().parse(), Ok(told.unwrap()));
}

#[test]
fn a_birth_that_fails_ends_the_process() {
    let stage = Stage::with_clients(&[]);
    let (told, started) = bear_on(&stage, &mut |_| Err("counters are not to be had".into()));
    assert_eq!(
        started.unwrap_err().to_string(),
        "prepare the process of it before it starts: counters are not to be had"
    );
    assert!(!is_there(told.unwrap()));
    assert!(!stage.path("born").exists());
    assert_eq!(fs::read_dir(stage.roots.instances()).unwrap().count(), 0);
}

/// True while there is a process with this id, a zombie included.
fn is_there(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// A server that was never asked anything, as if it had answered.
fn started(instance: Instance) -> Running {
    let process = instance
        .spawn(instance.server_command(), Stdio::null())
        .unwrap();
    let server = Running::unasked(process, instance);
    // The script says when it is ready for signals.
    while !server.log_tail(1).contains("ready") {
        std::thread::sleep(Duration::from_millis(5));
    }
    server
}

#[test]
fn a_stopped_server_leaves_its_instance() {
    let stage = Stage::with_clients(&[]);
    let script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let server = started(instance(&stage, script, Bootstrap::InitializeInsecure));
    let instance = server.stop(Duration::from_secs(20)).unwrap();
    assert!(instance.config_path().is_file());
}

#[test]
fn a_server_that_does_not_stop_is_killed_and_that_is_an_error() {
    let stage = Stage::with_clients(&[]);
    let script = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
    let server = started(instance(&stage, script, Bootstrap::InitializeInsecure));
    let pid = server.pid();
    let error = server.stop(Duration::from_millis(100)).unwrap_err();
    assert!(matches!(error, StopError::TimedOut { .. }), "{error}");
    assert_eq!(error.log_tail(), "ready");
    assert!(!is_there(pid));
}

#[test]
fn a_server_that_dies_is_noticed() {
    let stage = Stage::with_clients(&[]);
    let script = "echo ready; exit 5";
    let mut server = started(instance(&stage, script, Bootstrap::InitializeInsecure));
    let end = std::time::Instant::now() + Duration::from_secs(20);
    let died = loop {
        assert!(std::time::Instant::now() < end);
        if let Err(died) = server.check() {
            break died;
        }
    };
    assert_eq!(died.to_string(), "the server ended with exit code 5");
    assert!(matches!(
        server.stop(Duration::ZERO),
        Err(StopError::Died(_))
    ));
}

#[test]
fn images_are_whole_or_not_there_and_give_equal_data() {
    let stage = Stage::with_clients(&[]);
    let mut first = instance(&stage, "", Bootstrap::Template("template".into()));
    let (build, rendered) = (first.build.clone(), first.rendered.clone());
    let images = Images::new(&stage.roots);
    let dataset = prony_model::Dataset::sbtest(1, 1, 1);
    let key = images.key(&build, &rendered, Engine::Innodb, &dataset);
    let other = images.key(&build, &rendered, Engine::Myisam, &dataset);
    assert_ne!(key, other);
    assert!(images.find(&key).is_none());
    first.bootstrap(&never()).unwrap();
    write_private(&first.password_file(), b"secret").unwrap();
    let record = ImageRecord {
        engine: Engine::Innodb,
        dataset,
        load: None,
        settle: None,
    };
    let image = images.publish(first, &key, record.clone()).unwrap();
    let found = images.find(&key).unwrap();
    assert_eq!(found.digest(), image.digest());
    assert_eq!(found.record(), &record);
    assert!(images.find(&other).is_none());

    let second = Instance::create(&stage.roots, &stage.launcher, &build, &rendered).unwrap();
    images.restore(&image, &second).unwrap();
    let restored = fs::read(second.data_dir().join("mysql/user.frm")).unwrap();
    assert_eq!(restored, b"table");
    let password = second.password_file();
    assert_eq!(fs::read(&password).unwrap(), b"secret");
    let mode = fs::metadata(&password).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The same again: the first one stays.
    let again = images.publish(second, &key, record).unwrap();
    assert_eq!(again.digest(), image.digest());
    assert_eq!(fs::read_dir(stage.roots.images()).unwrap().count(), 1);
}
