//! `prony guard`, which every child process is started by.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use support::{PRONY, wait_for};

const LIMIT: Duration = Duration::from_secs(20);

/// A guard that holds, started by this process.
fn holding(script: &str) -> Child {
    let parent = std::process::id().to_string();
    Command::new(PRONY)
        .args([
            "guard", "--parent", &parent, "--hold", "--", "sh", "-c", script,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_guard_that_holds_becomes_the_program_when_its_input_ends() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("begun");
    let script = format!(
        "touch {}; echo $$; readlink /proc/$$/fd/0",
        marker.display()
    );
    let mut guard = holding(&script);
    sleep(Duration::from_millis(100));
    assert!(!marker.exists());
    drop(guard.stdin.take());
    let mut said = String::new();
    let mut output = guard.stdout.take().unwrap();
    output.read_to_string(&mut said).unwrap();
    assert!(guard.wait().unwrap().success());
    assert_eq!(said, format!("{}\n/dev/null\n", guard.id()));
}

#[test]
fn a_guard_that_holds_ends_with_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("begun");
    // What a shell starts in the background has no input unless it is given one.
    let script = format!(
        "exec 3<&0; {PRONY} guard --parent $$ --hold -- touch {} <&3 & echo $!; read word <&3",
        marker.display()
    );
    let mut parent = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(parent.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    // A process that has ended and that nobody has asked about yet has no command line.
    let command_line = || {
        let command = fs::read(format!("/proc/{}/cmdline", line.trim())).unwrap_or_default();
        String::from_utf8_lossy(&command).into_owned()
    };
    wait_for("the guard to begin", LIMIT, || {
        command_line().contains("--hold").then_some(())
    });
    sleep(Duration::from_millis(100));
    // This process keeps the input open.
    let input = parent.stdin.take();
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_for("the guard to end", LIMIT, || {
        command_line().is_empty().then_some(())
    });
    assert!(!marker.exists());
    drop(input);
}

/// Servers that refuse root run as somebody else, whose files are root's outside.
#[test]
fn a_program_that_must_not_run_as_root_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine");
    let parent = std::process::id().to_string();
    let script = format!("id -u; touch {}", file.display());
    let output = Command::new(PRONY)
        .args([
            "guard",
            "--parent",
            &parent,
            "--not-as-root",
            "--death",
            "quit",
        ])
        .args(["--", "sh", "-c", &script])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let me = rustix::process::geteuid();
    let expected = if me.is_root() { 65_534 } else { me.as_raw() };
    assert_eq!(said.trim(), expected.to_string(), "{:?}", output.stderr);
    let owner = fs::metadata(file).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&owner), me.as_raw());
}
