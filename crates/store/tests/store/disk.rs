//! A real disk that is full, or can only be read: a file system of a few hundred KiB, mounted for
//! one process alone.

use std::fs;
use std::path::Path;
use std::process::Command;

use prony_store::{Store, StoreError};
use prony_testkit::planned;
use tempfile::TempDir;

use crate::sample::{assert_whole, at, begin_with_steps, create};

/// Tells the tests below where the small disk is; without it, they do nothing.
const DISK: &str = "PRONY_TEST_DISK";

/// Mounts a small disk and runs the test of this name on it.
///
/// # Errors
/// When that can't be done here, with the reason.
fn on_small_disk(test: &str) -> Result<(), String> {
    let folder = TempDir::new().unwrap();
    let mount = "mount -t tmpfs -o size=600k tmpfs \"$0\" || exit 99; exec \"$@\"";
    let mut reasons = Vec::new();
    // As root, and as somebody who may make a user namespace.
    for namespace in ["--mount", "-rm"] {
        let output = Command::new("unshare")
            .args([namespace, "sh", "-c", mount])
            .arg(folder.path())
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(DISK, folder.path())
            .output();
        match output {
            Ok(output) => {
                let told = String::from_utf8_lossy(&output.stdout);
                assert!(
                    !told.contains("running 1 test") || output.status.success(),
                    "{told}"
                );
                if output.status.success() {
                    assert!(told.contains("1 passed"), "{told}");
                    return Ok(());
                }
                reasons.push(String::from_utf8_lossy(&output.stderr).into_owned());
            }
            Err(error) => reasons.push(format!("unshare: {error}")),
        }
    }
    Err(reasons.join("; "))
}

#[test]
fn a_run_goes_on_when_a_full_disk_has_space_again() {
    if let Err(reason) = on_small_disk("disk::full") {
        println!("left out: no small disk can be mounted: {reason}");
    }
}

#[test]
fn a_disk_that_can_only_be_read_is_enough_for_a_report() {
    if let Err(reason) = on_small_disk("disk::read_only") {
        println!("left out: no small disk can be mounted: {reason}");
    }
}

/// Not a test of its own: runs on the small disk.
#[test]
fn full() {
    let Some(disk) = std::env::var_os(DISK) else {
        return;
    };
    let disk = Path::new(&disk);
    let path = disk.join("run.sqlite");
    let mut store = create(&path);
    let done = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(done, at(2)).unwrap();
    let filler = disk.join("filler");
    fs::write(&filler, vec![1; 10_000_000]).unwrap_err();

    let error = (0..1000).find_map(|number| {
        let value = format!("{number}").repeat(1000);
        let trial = planned(0, 1);
        let begun = store.begin_trial(trial, at(3)).and_then(|trial| {
            store.record_variables(trial, &[("v".into(), value)])?;
            store.discard_trial(trial, "to fill the disk", at(3))
        });
        begun.err()
    });
    let text = error.unwrap().to_string();
    let expected = format!(
        " in {}: database or disk is full; free space on the disk that holds {}, then continue \
         with `prony resume`",
        path.display(),
        disk.display()
    );
    assert!(text.ends_with(&expected), "{text}");
    drop(store);

    fs::remove_file(&filler).unwrap();
    let mut store = Store::open(&path).unwrap();
    store.abandon_running("the disk was full").unwrap();
    while let Some(next) = store.missing_trials().unwrap().first().copied() {
        let trial = begin_with_steps(&mut store, next.block, next.target);
        store.finish_trial(trial, at(9)).unwrap();
    }
    assert_eq!(store.outcomes().unwrap().len(), 8);
    drop(store);
    assert_whole(&path);
}

/// Not a test of its own: runs on the small disk.
#[test]
fn read_only() {
    let Some(disk) = std::env::var_os(DISK) else {
        return;
    };
    let path = Path::new(&disk).join("run.sqlite");
    let mut store = create(&path);
    let trial = begin_with_steps(&mut store, 0, 0);
    store.finish_trial(trial, at(2)).unwrap();
    store.set_run_ended(at(3)).unwrap();
    drop(store);
    let remounted = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&disk)
        .status();
    assert!(remounted.unwrap().success());

    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.outcomes().unwrap().len(), 2);
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Lock { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("Read-only file system"), "{text}");
    let folder = Path::new(&disk).display();
    let remedy = format!("; make {folder} and its files writable, or copy it to where they are");
    assert!(text.ends_with(&remedy), "{text}");
}
