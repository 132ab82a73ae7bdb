//! Ceilings against the steps of a stored run.

use jiff::Timestamp;
use prony_model::Version;
use prony_store::NewRun;
use prony_testkit::{self as testkit, planned};

use super::*;

/// Ceilings of epoll, in queries per second, by number of clients.
fn calibration(ceilings: &[(u32, u64)]) -> Calibration {
    let closed =
        |&(clients, queries): &(u32, u64)| testkit::closed_point(Backend::Epoll, clients, queries);
    Calibration {
        closed: ceilings.iter().map(closed).collect(),
        ..testkit::calibration()
    }
}

/// A run of one trial whose step of 4 clients did 1,000 queries per second.
fn run(folder: &std::path::Path) -> Store {
    let target = testkit::target("server", Version::new(8, 0, 31));
    let plan = testkit::plan("ceiling", vec![target], vec![testkit::step("step", 4)], 1);
    let new = NewRun {
        id: "ceiling-1",
        plan: &plan,
        prony_version: "1.2.3",
        started_at: Timestamp::UNIX_EPOCH,
        host_json: "{}",
    };
    let mut store = Store::create(&folder.join("run.sqlite"), &new).unwrap();
    let trial = store
        .begin_trial(planned(0, 0), Timestamp::UNIX_EPOCH)
        .unwrap();
    let histogram = testkit::histogram(&[(1_000, 2_000)]);
    let group = testkit::group_outcome(4, 2_000, 8_000_000_000, histogram);
    let outcome = testkit::step_outcome(group);
    store.record_step(trial, 0, &outcome).unwrap();
    store.finish_trial(trial, Timestamp::UNIX_EPOCH).unwrap();
    store
}

#[test]
fn steps_strike_the_ceilings_below_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = run(folder.path());
    let of = |ceilings: &[(u32, u64)]| struck(&store, &calibration(ceilings)).unwrap();
    let eight: BTreeSet<_> = [(Family::Mysql, Backend::Epoll, 8)].into();
    assert_eq!(of(&[(1, 10), (8, 999), (64, 10)]), eight);
    assert_eq!(of(&[(8, 1_001)]), BTreeSet::new());
    assert_eq!(of(&[(1, 10)]), BTreeSet::new());
}

#[test]
fn steps_on_another_host_strike_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = run(folder.path());
    store.record_host("{}", Timestamp::UNIX_EPOCH).unwrap();
    let struck = struck(&store, &calibration(&[(8, 10)])).unwrap();
    assert_eq!(struck, BTreeSet::new());
}
