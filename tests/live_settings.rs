//! Settings on real servers: what they are told, what they make of it, and what stops a run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;

use support::{Finished, Shell, finish, live, only_run, prony, whole_report, write};

/// One step, one block, few rows; targets follow.
fn experiment(base: &str, targets: &str) -> String {
    format!(
        r#"name = "settings"
base = "{base}"
blocks = 1
clients = [2]
{targets}
[dataset]
rows = 1000

[sequence]
warmup = "100ms"
time = "300ms"

[[step]]
workload = "point-query"

[[step]]
workload = "update-nonindex"
"#
    )
}

/// Runs an experiment in a folder of its own.
fn run(folder: &Path, base: &str, targets: &str) -> Finished {
    write(folder, "settings.toml", &experiment(base, targets));
    finish(prony(folder, &["run", "settings.toml"]))
}

fn report(folder: &Path, format: &str) -> String {
    let run = only_run(folder);
    let arguments = ["report", run.to_str().unwrap(), "--format", format];
    finish(prony(folder, &arguments)).exits(0).stdout
}

/// The fault that made a published study worthless: one server estimated long lists by another
/// method than the others, and nobody saw it.
#[test]
fn an_unequal_setting_stops_the_run_before_anything_is_loaded() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = r#"
[[target]]
build = "mysql-5.6.24"

[[target]]
build = "mysql-5.7.22"
options = { eq_range_index_dive_limit = 200 }
"#;
    let finished = run(folder.path(), "mysql-5.6.24", targets).exits(3);
    let finished = finished.says(&[
        "eq_range_index_dive_limit",
        "200 in mysql-5.7.22",
        "0 in mysql-5.6.24",
        "allow = [\"eq_range_index_dive_limit\"]",
    ]);
    assert!(!finished.stderr.contains("loading"), "{}", finished.stderr);
    let runs = std::fs::read_dir(folder.path().join("runs")).unwrap();
    assert_eq!(runs.count(), 0, "a run that never began leaves no folder");

    let allowed = format!("allow = [\"eq_range_index_dive_limit\"]\n{targets}");
    run(folder.path(), "mysql-5.6.24", &allowed).exits(0);
    assert!(whole_report(folder.path()).contains("eq_range_index_dive_limit"));
}

/// What upgrading is worth to a user who keeps the defaults.
#[test]
fn shipped_settings_run_side_by_side_and_their_differences_are_shown() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = r#"
[defaults]
baseline = "shipped"
config = { buffer_pool = "64M", flush_at_commit = 2 }

[[target]]
build = "mysql-5.6.24"

[[target]]
build = "mysql-9.7"
"#;
    run(folder.path(), "mysql-5.6.24", targets).exits(0);
    let report = whole_report(folder.path());
    for words in [
        "as each version ships them, ",
        "have the settings that each version ships",
        "eq_range_index_dive_limit (default changed, as shipped)",
        "log_bin (default changed, as shipped)",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    assert!(!report.contains("stops a run"), "{report}");
}

/// The fault of another study: a redo log of a size that old versions refuse.
#[test]
fn a_redo_log_that_an_old_version_refuses_is_as_large_as_it_takes() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = r#"
[defaults]
config = { redo_log = "8000M" }

[[target]]
build = "mysql-5.5.34"
"#;
    run(folder.path(), "mysql-5.5.34", targets).exits(3).says(&[
        "mysql-5.5.34",
        "redo_log = 8000M",
        "8M to 4094M",
    ]);
    // Starting it is enough: an image with such a log would fill the cache.
    let allowed = format!("allow = [\"redo_log\"]\n{targets}");
    let text = experiment("mysql-5.5.34", &allowed);
    write(folder.path(), "settings.toml", &text);
    let arguments = ["plan", "settings.toml", "--effective"];
    let finished = finish(prony(folder.path(), &arguments)).exits(0);
    assert!(finished.stdout.contains("4094M"), "{}", finished.stdout);
}

#[test]
fn what_a_version_lacks_is_named_with_the_choices() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = r#"
[[target]]
build = "mysql-5.0.21"
config = { performance_schema = true }
"#;
    run(folder.path(), "mysql-5.0.21", targets).exits(3).says(&[
        "mysql-5.0.21",
        "performance_schema = on",
        "off",
    ]);

    let raw = r#"
[[target]]
build = "mysql-5.7.22"
options = { innodb_redo_log_capacity = 100663296 }
"#;
    let finished = run(folder.path(), "mysql-5.7.22", raw);
    // The server's own line.
    let shown = "unknown variable 'innodb_redo_log_capacity";
    assert!(finished.stdout.contains(shown), "{}", finished.stdout);
}

#[test]
fn one_build_in_many_configurations() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = r#"
[[target]]
build = "mysql-8.0.31"
matrix = { performance_schema = [false, true], protocol = ["prepared", "text"] }
[[target]]
build = "mysql-8.0.31"
matrix = { transport = ["tcp"], tls = [false, true] }
[[target]]
build = "mysql-8.0.31"
config = { allocator = "jemalloc", binlog = true }
"#;
    run(folder.path(), "prepared-socket-ps-off", targets).exits(0);
    let database = rusqlite::Connection::open(only_run(folder.path()).join("run.sqlite")).unwrap();
    let value = |target: &str, variable: &str| -> String {
        let sql = "SELECT value FROM server_variable
                   JOIN trial_variable ON variable_id = server_variable.id
                   JOIN trial ON trial.id = trial_id JOIN target ON target.id = target_id
                   WHERE target.name = ?1 AND server_variable.name = ?2 AND state = 'done'";
        database
            .query_row(sql, [target, variable], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(value("text-socket-ps-on", "performance_schema"), "ON");
    assert_eq!(value("text-socket-ps-off", "performance_schema"), "OFF");
    assert_eq!(value("prepared-tcp-tls-off", "skip_networking"), "OFF");
    assert_eq!(value("prepared-tcp-tls-on", "have_ssl"), "YES");
    assert_eq!(value("prepared-tcp-tls-off", "have_ssl"), "DISABLED");
    let last = "prepared-socket-allocator-jemalloc-binlog-on";
    assert_eq!(value(last, "prony.allocator"), "jemalloc");
    assert_eq!(value(last, "log_bin"), "ON");
}

/// The lines of a target for it.
fn target(shell: &Shell, password: &str) -> String {
    format!(
        r#"
[[target]]
name = "theirs"
[target.external]
address = "{}"
user = "prony"
{password}
"#,
        shell.socket.display()
    )
}

#[test]
fn an_external_server_is_measured_and_left_running() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::start(folder.path(), "mysql-5.7.22");
    let password = format!("password_file = \"{}\"", shell.password.display());
    run(folder.path(), "theirs", &target(&shell, &password)).exits(0);
    assert!(whole_report(folder.path()).contains("5.7.22"));
    let secret = std::fs::read_to_string(&shell.password).unwrap();
    let database = std::fs::read(only_run(folder.path()).join("run.sqlite")).unwrap();
    let found = database
        .windows(secret.trim().len())
        .any(|part| part == secret.trim().as_bytes());
    assert!(!found, "the password is in the result file");
    assert!(!report(folder.path(), "json").contains(secret.trim()));

    shell.stop();
}

/// Whatever is wrong with it shows before anything is loaded, and leaves nothing behind.
#[test]
fn an_external_server_that_can_not_be_compared_stops_the_run() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::start(folder.path(), "mysql-5.7.22");
    let refused = |target: &str, code: i32, words: &[&str]| {
        let finished = run(folder.path(), "theirs", target).exits(code).says(words);
        let loading = finished.stderr.contains("loading the dataset");
        assert!(!loading, "{}", finished.stderr);
        let runs = std::fs::read_dir(folder.path().join("runs")).unwrap();
        assert_eq!(runs.count(), 0, "a run that never began leaves no folder");
    };
    let wrong = write(folder.path(), "wrong", "not the password\n");
    let password = format!("password_file = \"{}\"", wrong.display());
    refused(
        &target(&shell, &password),
        4,
        &["theirs", "Access denied for user 'prony'"],
    );
    let unset = target(&shell, "password_env = \"PRONY_TEST_NOT_SET\"");
    refused(&unset, 3, &["theirs", "PRONY_TEST_NOT_SET"]);
    let nobody = target(&shell, "").replace("/sock\"", "/nobody\"");
    refused(&nobody, 4, &["theirs", "/nobody"]);

    // It has the common baseline, so that another value of an intent is the only difference; and
    // an intent can't be asked of it.
    let password = format!("password_file = \"{}\"", shell.password.display());
    let ours = r#"
[[target]]
build = "mysql-5.7.22"
config = { flush_at_commit = 1 }
"#;
    let targets = format!("{}{ours}", target(&shell, &password));
    let variable = "innodb_flush_log_at_trx_commit";
    refused(&targets, 3, &[variable, "2 in theirs"]);
    shell.stop();
}
