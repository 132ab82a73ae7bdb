//! The experiments that come with Prony, planned against the built-in catalogue.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use support::{finish, prony, workspace};

#[test]
fn every_experiment_of_the_project_can_be_planned() {
    let folder = tempfile::tempdir().unwrap();
    let mut planned = 0;
    for entry in std::fs::read_dir(workspace().join("experiments")).unwrap() {
        let path = entry.unwrap().path();
        let finished = finish(prony(folder.path(), &["plan", path.to_str().unwrap()])).exits(0);
        assert!(
            finished.stdout.contains("Predicted time: about "),
            "{}",
            path.display()
        );
        planned += 1;
    }
    assert!(planned >= 3);
}

#[test]
fn a_plan_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = workspace().join("experiments/quickstart.toml");
    let plan = finish(prony(folder.path(), &["plan", path.to_str().unwrap()]))
        .exits(0)
        .stdout;
    for build in ["mysql-5.0.21", "mysql-5.7.22", "mysql-9.7"] {
        assert!(plan.contains(build), "{build}");
    }
    // Nothing was started or made.
    assert!(!folder.path().join("runs").exists());
}
