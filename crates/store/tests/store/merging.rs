//! Parts of several hosts become one run.

use std::fs;
use std::path::{Path, PathBuf};

use prony_model::TrialState;
use prony_store::{Merged, NewPart, Store, merge};
use prony_testkit::planned;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::sample::{assert_whole, at, begin_with_steps, create};

/// A submitted run, whose parts the tests write.
struct Run {
    folder: TempDir,
}

/// The targets of a block whose trials a part has, of those that are planned.
const BOTH: &[usize] = &[0, 1];

impl Run {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = Self { folder };
        let mut plan = create(&run.path("plan"));
        plan.record_fleet("uuid-1", "build-1").unwrap();
        run
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.sqlite"))
    }

    /// A part with trials of a block.
    fn part(
        &self,
        name: &str,
        host_name: &str,
        attempt: u32,
        block: u32,
        targets: &[usize],
    ) -> PathBuf {
        let local = self.path(&format!("{name}-local"));
        fs::copy(self.path("plan"), &local).unwrap();
        let mut store = Store::open(&local).unwrap();
        let part = NewPart {
            name,
            host_name,
            attempt,
            job: Some("7"),
            prony_build: "build-1",
            blocks: &[block],
            host_json: r#"{"cpus":2}"#,
        };
        store.begin_part(&part, at(i64::from(attempt))).unwrap();
        for target in targets {
            let trial = begin_with_steps(&mut store, block, *target);
            store.finish_trial(trial, at(9)).unwrap();
        }
        let delivered = self.path(name);
        store.write_copy(&delivered).unwrap();
        delivered
    }

    fn merge(&self, parts: &[PathBuf]) -> Merged {
        let merged = merge(&self.path("plan"), parts, &self.path("merged")).unwrap();
        assert_whole(&self.path("merged"));
        merged
    }

    /// Block, target and host of every trial of the merged file.
    fn trials(&self) -> Vec<(u32, usize, String)> {
        let store = Store::open_read_only(&self.path("merged")).unwrap();
        let hosts = store.hosts().unwrap();
        let trials = store.trials().unwrap().into_iter();
        trials
            .inspect(|trial| assert_eq!(trial.state, TrialState::Done))
            .map(|trial| {
                let host = hosts[trial.host].host_name.clone().unwrap();
                (trial.planned.block, trial.planned.target, host)
            })
            .collect()
    }
}

fn change(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn every_trial_of_every_part_is_there_once_with_its_host() {
    let run = Run::new();
    let parts = [
        run.part("b1.n2", "n2", 0, 1, BOTH),
        run.part("b0.n1", "n1", 0, 0, BOTH),
    ];
    let merged = run.merge(&parts);
    assert_eq!((merged.used, merged.missing.len()), (2, 0));
    assert!(merged.refused.is_empty() && merged.incomplete.is_empty() && merged.twice.is_empty());
    let n = |host: &str| host.to_owned();
    let trials = [
        (0, 0, n("n1")),
        (0, 1, n("n1")),
        (1, 0, n("n2")),
        (1, 1, n("n2")),
    ];
    assert_eq!(run.trials(), trials);

    let store = Store::open_read_only(&run.path("merged")).unwrap();
    let outcomes = store.outcomes().unwrap();
    assert_eq!(outcomes.len(), 8, "two steps of four trials");
    assert_eq!(store.missing_trials().unwrap(), []);
}

#[test]
fn merging_again_gives_the_same_bytes_in_any_order() {
    let run = Run::new();
    let first = run.part("b0.n1", "n1", 0, 0, BOTH);
    let second = run.part("b1.n2", "n2", 0, 1, BOTH);
    run.merge(&[first.clone(), second.clone()]);
    let bytes = fs::read(run.path("merged")).unwrap();
    run.merge(&[second, first]);
    assert!(bytes == fs::read(run.path("merged")).unwrap());
}

#[test]
fn a_block_counts_from_the_part_that_completed_it_first() {
    let run = Run::new();
    let parts = [
        run.part("b0.0.n1", "n1", 0, 0, &[0]),
        run.part("b0.1.n2", "n2", 1, 0, BOTH),
        run.part("b0.2.n3", "n3", 2, 0, BOTH),
        run.part("b1.0.n1", "n1", 0, 1, &[1]),
    ];
    let merged = run.merge(&parts);
    let twice = [(0, "b0.2.n3.sqlite".into()), (0, "b0.0.n1.sqlite".into())];
    assert_eq!(merged.twice, twice);
    assert_eq!(merged.incomplete, [1], "one of its two trials");
    let n = |host: &str| host.to_owned();
    let trials = [(1, 1, n("n1")), (0, 0, n("n2")), (0, 1, n("n2"))];
    assert_eq!(run.trials(), trials);
    let store = Store::open_read_only(&run.path("merged")).unwrap();
    assert_eq!(store.missing_trials().unwrap(), [planned(1, 0)]);
}

#[test]
fn parts_that_do_not_belong_are_refused_by_name_and_the_rest_is_merged() {
    let run = Run::new();
    let good = run.part("b0.n1", "n1", 0, 0, BOTH);
    let wrong = |name: &str, sql: &str| {
        let path = run.part(name, "n2", 0, 1, BOTH);
        change(&path, sql);
        path
    };
    let other_run = wrong("other-run", "UPDATE run SET run_uuid = 'uuid-2'");
    let other_plan = wrong(
        "other-plan",
        "UPDATE run SET plan = replace(plan, '42', '43')",
    );
    let other_build = wrong("other-build", "UPDATE part SET prony_build = 'build-2'");
    let older = wrong("older", "PRAGMA user_version = 6");
    let no_part = wrong("no-part", "DELETE FROM part");
    let cut = run.part("cut", "n2", 0, 1, BOTH);
    let length = fs::metadata(&cut).unwrap().len();
    let file = fs::File::options().write(true).open(&cut).unwrap();
    file.set_len(length / 2).unwrap();
    let text = run.path("text");
    fs::write(&text, "not a result file at all, but long enough for a header of SQLite, which is 100 bytes long and more").unwrap();
    // Found by reading everything only.
    let broken = run.part("broken", "n2", 0, 1, BOTH);
    let mut bytes = fs::read(&broken).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xA5);
    fs::write(&broken, bytes).unwrap();

    let parts = [
        good,
        other_run,
        other_plan,
        other_build,
        older,
        no_part,
        cut,
        text,
        broken,
    ];
    let merged = run.merge(&parts);
    assert_eq!((merged.used, &merged.missing[..]), (1, &[1][..]));
    assert_eq!(run.trials().len(), 2);
    let said: Vec<_> = merged
        .refused
        .iter()
        .map(|part| {
            // SQLite's words depend on which page is broken.
            let words = part.reason.split(':').next().unwrap_or_default();
            let words: String = words.chars().take(20).collect();
            (part.name.trim_end_matches(".sqlite"), words)
        })
        .collect();
    insta::assert_debug_snapshot!(said);
}

#[test]
fn a_result_of_one_host_is_no_plan_of_several() {
    let run = Run::new();
    let plain = run.path("plain");
    drop(create(&plain));
    let part = run.part("b0.n1", "n1", 0, 0, BOTH);
    let error = merge(&plain, &[part], &run.path("merged")).unwrap_err();
    assert!(error.to_string().contains("several hosts"), "{error}");
}
