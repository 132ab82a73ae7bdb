use std::collections::VecDeque;

use prony_model::{Plan, Version};
use prony_store::{NewRun, Subject, TrialRow};
use prony_testkit as testkit;
use prony_testkit::planned;
use tempfile::TempDir;

use super::*;

/// The usual time of the memory part, in nanoseconds.
const USUAL: u64 = 1000;

/// A run of one target, and the canaries that its trials are going to have.
struct Host {
    store: Store,
    rule: CanaryRule,
    canaries: VecDeque<Result<u64, String>>,
    events: Vec<String>,
    /// Canaries that were begun while the work was under way.
    beside: u32,
    _folder: TempDir,
}

impl Host {
    fn new(exclude: bool) -> Self {
        let targets = vec![testkit::target("mysql-5.7.22", Version::new(5, 7, 22))];
        let mut plan = testkit::plan("canaries", targets, vec![testkit::step("reads", 1)], 20);
        plan.trials.push(PlannedTrial {
            kind: TrialKind::Counting,
            ..planned(0, 0)
        });
        let folder = tempfile::tempdir().unwrap();
        Self {
            store: create(&folder, &plan),
            rule: CanaryRule {
                exclude,
                ..CanaryRule::default()
            },
            canaries: VecDeque::new(),
            events: Vec::new(),
            beside: 0,
            _folder: folder,
        }
    }

    /// One attempt at a planned trial, with these times of its canaries, whose work ends like this.
    fn attempt(
        &mut self,
        planned: PlannedTrial,
        memory_ns: [u64; 2],
        end: fn() -> Result<(), Failure>,
    ) -> Result<Next, Stop> {
        self.canaries.extend(memory_ns.map(Ok));
        let attempts = Attempts {
            planned,
            target: "mysql-5.7.22",
            sharing: 1,
            rule: self.rule,
        };
        let (canaries, events) = (&mut self.canaries, &mut self.events);
        let mut canary = || canaries.pop_front().unwrap().map(reading);
        let begun = attempts.begin(&mut self.store, Some(&mut canary))?;
        let recorded = self.store.canaries()?;
        let own = recorded.iter().filter(|row| row.trial == begun.id);
        let moments: Vec<_> = own.map(|row| row.moment).collect();
        self.beside += u32::from(moments.contains(&CanaryMoment::After));
        let ended = end();
        if ended.is_ok() {
            let outcome = testkit::group_outcome(1, 10, 1000, Vec::new());
            let outcome = testkit::step_outcome(outcome);
            self.store.record_step(begun.id, 0, &outcome)?;
        }
        attempts.end(
            &mut self.store,
            &mut |event| events.push(word(&event)),
            Some(&mut canary),
            (begun, ended),
        )
    }

    /// The same of a timed trial that ends well.
    fn block(&mut self, block: u32, memory_ns: [u64; 2]) -> Next {
        self.attempt(planned(block, 0), memory_ns, || Ok(()))
            .unwrap()
    }

    fn last(&self) -> TrialRow {
        self.store.trials().unwrap().pop().unwrap()
    }
}

fn create(folder: &TempDir, plan: &Plan) -> Store {
    let run = NewRun {
        id: "canaries-1",
        plan,
        prony_version: "0.1.0",
        host_json: r#"{"cpus": 2}"#,
        started_at: Timestamp::UNIX_EPOCH,
    };
    Store::create(&folder.path().join("run.sqlite"), &run).unwrap()
}

fn died() -> Failure {
    Failure {
        reason: "it died".to_owned(),
        log_tail: String::new(),
    }
}

fn reading(memory_ns: u64) -> CanaryReading {
    CanaryReading {
        processor_ns: 7,
        memory_ns,
        system_calls_ns: 7,
        wake_up_ns: None,
    }
}

fn word(event: &Event<'_>) -> String {
    match event {
        Event::TrialDone { .. } => "done".to_owned(),
        Event::TrialFailed { reason, .. } => format!("failed: {reason}"),
        Event::TrialExcluded { block, reason, .. } => format!("excluded in {block}: {reason}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_trial_is_excluded_once_there_are_five_canaries() {
    let mut host = Host::new(true);
    // Four canaries before the third trial: a median of so few decides nothing.
    for block in 0..2 {
        assert_eq!(host.block(block, [USUAL; 2]), Next::Trial);
    }
    assert_eq!(host.block(2, [2 * USUAL; 2]), Next::Trial);
    assert_eq!(host.block(3, [USUAL, USUAL * 109 / 100]), Next::Trial);
    assert_eq!(host.block(4, [USUAL, USUAL * 125 / 100]), Next::Again);
    assert_eq!(host.last().state, TrialState::Excluded);
    assert!(host.last().ended_at.is_some());
    let reason = "in the canary after it, memory took 25.0 % longer than the median of the 8 \
                  canaries before; the bound is 10 %";
    assert_eq!(host.last().reason.as_deref(), Some(reason));
    assert_eq!(
        host.events.pop().unwrap(),
        format!("excluded in 5: {reason}")
    );
    assert_eq!(host.block(4, [USUAL; 2]), Next::Trial);
    assert_eq!(
        (host.last().state, host.last().attempt),
        (TrialState::Done, 2)
    );
    assert_eq!(host.beside, 0);
    // A host that is faster than before has changed too.
    assert_eq!(host.block(5, [USUAL / 2, USUAL]), Next::Again);
    let reason = host.last().reason.unwrap();
    assert!(
        reason.starts_with("in the canary before it, memory took 50.0 % less time than"),
        "{reason}"
    );
}

#[test]
fn nothing_is_excluded_that_was_not_declared() {
    let mut host = Host::new(false);
    for block in 0..10 {
        assert_eq!(host.block(block, [USUAL; 2]), Next::Trial);
    }
    assert_eq!(host.block(10, [9 * USUAL; 2]), Next::Trial);
    assert_eq!(host.store.trial_counts().unwrap().done, 11);
    assert_eq!(host.store.canaries().unwrap().len(), 22);
}

#[test]
fn the_third_repetition_fails_if_it_is_off() {
    let mut host = Host::new(true);
    // Enough canaries for the median to stay where it is.
    for block in 0..10 {
        host.block(block, [USUAL; 2]);
    }
    let off = [USUAL, 2 * USUAL];
    for _ in 0..CanaryRule::REPEATS_MAX {
        assert_eq!(host.block(10, off), Next::Again);
    }
    assert_eq!(host.block(10, off), Next::Trial);
    let counts = host.store.trial_counts().unwrap();
    assert_eq!((counts.excluded, counts.failed, counts.done), (3, 1, 10));
    let reason = host.last().reason.unwrap();
    assert!(
        reason.starts_with("excluded 4 times by its canaries: in the canary after it, memory"),
        "{reason}"
    );
    // Another trial has its own repetitions.
    assert_eq!(host.block(11, off), Next::Again);

    // Resuming tries a failed trial once more.
    assert_eq!(host.store.retry_failed().unwrap(), 1);
    assert_eq!(host.block(10, [USUAL; 2]), Next::Trial);
    assert_eq!(host.last().state, TrialState::Done);
}

#[test]
fn a_host_that_changed_for_good_becomes_usual() {
    let mut host = Host::new(true);
    for block in 0..3 {
        host.block(block, [USUAL; 2]);
    }
    // Four attempts at the fourth block: as many canaries are slow then as are not.
    let slow = [2 * USUAL; 2];
    for _ in 0..3 {
        assert_eq!(host.block(3, slow), Next::Again);
    }
    assert_eq!(host.block(3, slow), Next::Trial);
    assert_eq!(host.last().state, TrialState::Failed);
    for block in 4..10 {
        assert_eq!(host.block(block, slow), Next::Trial);
        assert_eq!(host.last().state, TrialState::Done);
    }
}

#[test]
fn counting_and_failed_trials_are_not_excluded() {
    let mut host = Host::new(true);
    for block in 0..5 {
        host.block(block, [USUAL; 2]);
    }
    let counting = PlannedTrial {
        kind: TrialKind::Counting,
        ..planned(0, 0)
    };
    let off = [5 * USUAL; 2];
    assert_eq!(host.attempt(counting, off, || Ok(())).unwrap(), Next::Trial);
    assert_eq!(host.last().state, TrialState::Done);
    let failed = host.attempt(planned(5, 0), off, || Err(died()));
    assert_eq!(failed.unwrap(), Next::Trial);
    assert_eq!(host.last().state, TrialState::Failed);
    assert_eq!(host.store.canaries().unwrap().len(), 14);
}

#[test]
fn an_interrupted_trial_has_no_second_canary() {
    let mut host = Host::new(true);
    let attempts = Attempts {
        planned: planned(0, 0),
        target: "mysql-5.7.22",
        sharing: 1,
        rule: host.rule,
    };
    let mut canary = || Ok(reading(USUAL));
    let begun = attempts.begin(&mut host.store, Some(&mut canary)).unwrap();
    begun.interrupt(&mut host.store).unwrap();
    assert_eq!(host.last().state, TrialState::Discarded);
    assert_eq!(host.store.canaries().unwrap().len(), 1);
    assert_eq!(host.events, [""; 0]);
}

#[test]
fn a_trial_without_canaries_counts_and_the_run_warns() {
    let mut host = Host::new(true);
    for block in 0..5 {
        host.block(block, [USUAL; 2]);
    }
    let refused = || Err("start a thread: not permitted".to_owned());
    host.canaries.extend([refused(), refused()]);
    assert_eq!(host.block(5, [USUAL; 2]), Next::Trial);
    assert_eq!(host.last().state, TrialState::Done);
    let warnings = host.store.warnings().unwrap();
    let texts: Vec<_> = warnings.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "trials lack canaries, and can't be excluded by them: failed to start a thread: not \
          permitted"
        ]
    );
    assert_eq!(warnings[0].subject, Subject::Run);
}
