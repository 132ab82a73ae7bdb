//! A program that dies by SIGKILL while it writes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use prony_store::Store;

use crate::sample::{Sample, assert_whole, at, begin_with_steps, create};

/// Tells the writer below where to write; without it, it is a test that does nothing.
const WRITER_PATH: &str = "PRONY_TEST_WRITER_PATH";

#[test]
fn nothing_committed_is_lost() {
    for told_before_the_kill in 0..4 {
        let sample = Sample::new();
        let told = run_and_kill(&sample.path(), told_before_the_kill);
        assert_whole(&sample.path());

        let mut store = Store::open(&sample.path()).unwrap();
        store.abandon_running("prony was killed").unwrap();
        let before = store.trial_counts().unwrap();
        assert!(before.done >= told, "{before:?} after {told} were told");
        while let Some(next) = store.missing_trials().unwrap().first().copied() {
            let trial = begin_with_steps(&mut store, next.block, next.target);
            store.finish_trial(trial, at(9)).unwrap();
        }
        let after = store.trial_counts().unwrap();
        assert_eq!((after.done, after.running), (4, 0));
        assert_eq!(store.outcomes().unwrap().len(), 8);
        drop(store);
        assert_whole(&sample.path());
    }
}

/// Not a test of its own: the program that [`nothing_committed_is_lost`] kills.
#[test]
fn writer() {
    let Ok(path) = std::env::var(WRITER_PATH) else {
        return;
    };
    let mut store = create(Path::new(&path));
    let mut out = std::io::stdout();
    for next in store.missing_trials().unwrap() {
        let trial = begin_with_steps(&mut store, next.block, next.target);
        store.finish_trial(trial, at(2)).unwrap();
        writeln!(out, "finished").unwrap();
    }
    // Stays alive with everything written and nothing closed, until it is killed.
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Kills the writer after it has told of `trials` finished trials; returns that number.
fn run_and_kill(path: &Path, trials: usize) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::writer", "--nocapture"])
        .env(WRITER_PATH, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .filter(|line| line.ends_with("finished"))
        .take(trials.max(1))
        .count();
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    told as u64
}
