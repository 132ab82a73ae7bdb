use std::fs;
use std::time::{Duration, Instant};

use prony_host::{MARK, Owner};

use super::*;
use crate::digest::hex_of;
use crate::testing::{Stage, serve};

/// A tar archive that holds a server.
fn archive() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in [("bin/mysqld", "#!/bin/sh\n"), ("share/errmsg", "text")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, name, content.as_bytes())
            .unwrap();
    }
    builder.into_inner().unwrap()
}

fn entry(from: &str) -> String {
    format!(
        r#"
[[build]]
id = "it"
family = "mysql"
version = "8.0"
version_text = "8.0.*"
engines = ["innodb"]
program = "bin/mysqld"
bootstrap = "initialize-insecure"
[[build.source]]
{from}
"#
    )
}

fn with_sum(from: &str) -> String {
    entry(&format!("{from}\nsha256 = \"{}\"", hex_of(&archive())))
}

/// A stage whose clients bring [`archive`], and the catalogue with one entry.
fn stage(clients: &[&str], entries: &str) -> (Stage, Catalogue) {
    let stage = Stage::with_clients(clients);
    stage.write("archive", archive());
    let catalogue = catalogue(&stage, entries);
    (stage, catalogue)
}

fn catalogue(stage: &Stage, entries: &str) -> Catalogue {
    stage.write("catalogue/own.toml", entries);
    Catalogue::embedded()
        .unwrap()
        .with_user_dir(&stage.path("catalogue"))
        .unwrap()
}

fn fetch(stage: &Stage, catalogue: &Catalogue) -> Result<ServerBuild, FetchError> {
    Depot::new(&stage.roots, catalogue, &stage.launcher).fetch(
        "it",
        &StopFlag::default(),
        &mut |_| (),
    )
}

/// Names in a folder, none if it is not there.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn assert_nothing_left(stage: &Stage) {
    assert!(names(&stage.roots.builds()).is_empty());
    assert!(names(&stage.roots.downloads()).is_empty());
    assert!(!stage.roots.clients().join("maven/g/a/1").exists());
}

/// The mark of a process of this place that is gone.
fn dead_mark() -> String {
    let owner = Owner {
        start_ticks: 1,
        ..Owner::current().unwrap()
    };
    format!("{owner}\n")
}

#[test]
fn what_is_fetched_is_whole_and_stays_without_any_child_process() {
    let (stage, catalogue) = stage(&["mvn"], &with_sum("from.maven = \"g:a:1\""));
    let depot = Depot::new(&stage.roots, &catalogue, &stage.launcher);
    assert_eq!(depot.installed("it"), None);
    let build = fetch(&stage, &catalogue).unwrap();
    assert!(build.root.join("bin/mysqld").is_file());
    assert_eq!(build.artefacts.len(), 1);
    assert_eq!(build.artefacts[0].sha256, hex_of(&archive()));
    assert_eq!(stage.calls(), 1);
    assert_eq!(names(&stage.roots.builds()), ["it"]);
    assert!(names(&stage.roots.downloads()).is_empty());
    assert_eq!(fetch(&stage, &catalogue).unwrap(), build);
    assert_eq!(depot.installed("it"), Some(build));
    assert_eq!(stage.calls(), 1);
}

#[test]
fn npm_packages_and_local_archives() {
    let (stage, _) = stage(&["npm"], "");
    let by_npm = catalogue(&stage, &with_sum("from.npm = \"server@1.0\""));
    let build = fetch(&stage, &by_npm).unwrap();
    let by_hand = catalogue(&stage, &with_sum("from.archive = \"../archive\""));
    assert!(
        Depot::new(&stage.roots, &by_hand, &stage.launcher)
            .installed("it")
            .is_none()
    );
    let again = fetch(&stage, &by_hand).unwrap();
    assert_eq!(build.content_hash, again.content_hash);
    assert_eq!(stage.calls(), 1);
    assert!(stage.path("archive").is_file());
}

#[test]
fn another_checksum_is_refused() {
    let wrong = entry(&format!(
        "from.maven = \"g:a:1\"\nsha256 = \"{}\"",
        "0".repeat(64)
    ));
    let (stage, catalogue) = stage(&["mvn"], &wrong);
    let error = fetch(&stage, &catalogue).unwrap_err();
    let expected = format!(
        "g:a:1 has the SHA-256\n  \
         c74c1bb59f4a60b13245a634bfc71bab118f2d1f3994473688943a5301c683af (3072 bytes), the \
         catalogue expects\n  {}: it was refused and nothing was stored; try again, and do not \
         trust it if the checksum stays different",
        "0".repeat(64)
    );
    assert_eq!(error.to_string(), expected);
    assert_nothing_left(&stage);
}

#[test]
fn a_missing_client_is_named_with_the_way_to_get_it() {
    let (stage, catalogue) = stage(&[], &with_sum("from.maven = \"g:a:1\""));
    let error = fetch(&stage, &catalogue).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it is fetched with `mvn`, which is not on PATH: install it (on Debian: apt-get install \
         maven)"
    );
    assert_nothing_left(&stage);
}

#[test]
fn a_failing_client_is_quoted() {
    let (stage, catalogue) = stage(&["mvn"], &with_sum("from.maven = \"g:a:1\""));
    stage.write("complaint", "no such artifact\n");
    let error = fetch(&stage, &catalogue).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`mvn` failed for g:a:1 (and, once, what Maven itself needs) (exit status: 7); its output:\n\
         no such artifact"
    );
    assert_nothing_left(&stage);
}

#[test]
fn stopping_takes_less_than_a_second_and_ends_the_client() {
    let (stage, catalogue) = stage(&["mvn"], &with_sum("from.maven = \"g:a:1\""));
    stage.write("delay", "600");
    let stop = StopFlag::default();
    let depot = Depot::new(&stage.roots, &catalogue, &stage.launcher);
    let mut asked = None;
    // The first event says that the client runs.
    let result = depot.fetch("it", &stop, &mut |_| {
        stop.request();
        asked.get_or_insert_with(Instant::now);
    });
    assert!(matches!(result, Err(FetchError::Stopped)), "{result:?}");
    assert!(asked.unwrap().elapsed() < Duration::from_secs(1));
    assert_nothing_left(&stage);
}

#[test]
fn what_a_killed_fetch_left_is_no_build_and_is_removed() {
    let (stage, catalogue) = stage(&["mvn"], &with_sum("from.maven = \"g:a:1\""));
    let half = stage.roots.builds().join(".staging-it-1-0");
    fs::create_dir_all(half.join("tree/bin")).unwrap();
    fs::write(half.join(MARK), dead_mark()).unwrap();
    // Even under the right name, an item without a manifest is not there.
    let unfinished = stage.roots.builds().join("it");
    fs::create_dir_all(unfinished.join("tree/bin")).unwrap();
    fs::write(unfinished.join(MARK), dead_mark()).unwrap();
    let depot = Depot::new(&stage.roots, &catalogue, &stage.launcher);
    assert_eq!(depot.installed("it"), None);
    fetch(&stage, &catalogue).unwrap();
    assert_eq!(names(&stage.roots.builds()), ["it"]);
}

#[test]
fn a_folder_that_is_not_ours_is_left_alone() {
    let (stage, catalogue) = stage(&["mvn"], &with_sum("from.maven = \"g:a:1\""));
    let foreign = stage.roots.builds().join("it/precious");
    fs::create_dir_all(&foreign).unwrap();
    let error = fetch(&stage, &catalogue).unwrap_err();
    assert!(matches!(error, FetchError::InTheWay(_)), "{error}");
    assert!(foreign.exists());
}

#[test]
fn a_folder_of_the_users_own_is_used_in_place() {
    let (stage, catalogue) = stage(&[], &entry("from.path = \"../mine\""));
    let error = fetch(&stage, &catalogue).unwrap_err();
    assert!(error.to_string().contains("mine/bin/mysqld"), "{error}");
    stage.write("mine/bin/mysqld", "first");
    let build = fetch(&stage, &catalogue).unwrap();
    assert_eq!(
        fs::canonicalize(&build.root).unwrap(),
        fs::canonicalize(stage.path("mine")).unwrap()
    );
    assert_eq!(build.artefacts[0].sha256, hex_of(b"first"));
    stage.write("mine/bin/mysqld", "another build");
    let depot = Depot::new(&stage.roots, &catalogue, &stage.launcher);
    assert_eq!(depot.installed("it"), None);
    let rebuilt = fetch(&stage, &catalogue).unwrap();
    assert_ne!(rebuilt.content_hash, build.content_hash);
    assert_eq!(names(&stage.path("mine")), ["bin"]);
    assert_eq!(stage.calls(), 0);
}

#[test]
fn machines_that_can_not_run_it_are_told_so() {
    let (stage, fetched) = stage(&[], &with_sum("from.maven = \"g:a:1\""));
    let arm = ("linux", "aarch64");
    let error = check_platform(fetched.get("it").unwrap(), arm).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it runs on Linux on x86-64 only; this is linux on aarch64"
    );
    let own = catalogue(&stage, &entry("from.path = \"../mine\""));
    assert!(check_platform(own.get("it").unwrap(), arm).is_ok());
}

#[test]
fn archives_by_address() {
    let body = archive();
    let length = body.len();
    let good = serve("200 OK", body.clone(), length);
    let (stage, by_address) = stage(&[], &with_sum(&format!("from.url = \"{good}\"")));
    fetch(&stage, &by_address).unwrap();

    let short = serve("200 OK", body[..length / 2].to_vec(), length);
    let short = catalogue(&stage, &with_sum(&format!("from.url = \"{short}\"")));
    let error = fetch(&stage, &short).unwrap_err();
    assert!(matches!(error, FetchError::Download { .. }), "{error}");

    let other = serve("200 OK", b"something else".to_vec(), 14);
    let other = catalogue(&stage, &with_sum(&format!("from.url = \"{other}\"")));
    let error = fetch(&stage, &other).unwrap_err();
    assert!(matches!(error, FetchError::Checksum { .. }), "{error}");

    let missing = serve("404 Not Found", Vec::new(), 0);
    let missing = catalogue(&stage, &with_sum(&format!("from.url = \"{missing}\"")));
    let error = fetch(&stage, &missing).unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
    assert!(names(&stage.roots.downloads()).is_empty());
}

const DEBIAN: &str = r#"
part = [{ path = "bin", to = "usr/sbin" }]
[build.source.from.deb]
suite = "sid"
architecture = "amd64"
packages = ["server"]
dependencies = "all"
without = ["perl*"]
"#;

#[test]
fn debian_packages() {
    let clients = ["apt-get", "apt-config", "dpkg-deb"];
    let own = entry(DEBIAN).replace("bin/mysqld", "usr/sbin/mysqld");
    let (stage, packages) = stage(&clients, &own);
    stage.write(
        "sources.list",
        "deb http://mirror.example/debian bookworm main\n",
    );
    let size = archive().len();
    stage.write(
        "uris",
        format!(
            "'http://mirror.example/s' server_1%3a9.7.4-2_amd64.deb {size} SHA256:x\n\
             'http://mirror.example/p' perl_5_amd64.deb 1 SHA256:x\n\
             'http://mirror.example/l' libz_2_amd64.deb {size} SHA256:x\n"
        ),
    );
    stage.write("debs/server_1%3a9.7.4-2_amd64.deb", archive());
    stage.write("debs/libz_2_amd64.deb", archive());
    let build = fetch(&stage, &packages).unwrap();
    assert!(build.root.join("usr/sbin/mysqld").is_file());
    assert!(!build.root.join("share").exists());
    let seen: Vec<_> = build
        .artefacts
        .iter()
        .map(|artefact| {
            (
                artefact.name.as_str(),
                artefact.version.as_str(),
                artefact.size,
            )
        })
        .collect();
    let size = size as u64;
    assert_eq!(seen, [("server", "1:9.7.4-2", size), ("libz", "2", size)]);
    let calls = fs::read_to_string(stage.path("calls")).unwrap();
    assert!(
        calls.contains("download -q server=1:9.7.4-2 libz=2\n"),
        "{calls}"
    );
}

#[test]
fn a_machine_without_a_debian_mirror_is_told_so() {
    let clients = ["apt-get", "apt-config", "dpkg-deb"];
    let (stage, packages) = stage(&clients, &entry(DEBIAN));
    let error = fetch(&stage, &packages).unwrap_err();
    assert_eq!(
        error.to_string(),
        "package index of sid (amd64) comes from a Debian mirror, and the package sources of this \
         machine name none: add one with component main to them, or take the build from an archive \
         or a folder"
    );
}
