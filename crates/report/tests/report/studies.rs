//! Runs as the studies have them: sections, phases, settling, debt, loads, many numbers of clients.

use prony_model::{
    CountRange, Dataset, Debt, DebtKind, Display, Effect, Engine, Group, Level, LoadOutcome, Phase,
    Plan, PlannedTrial, Schema, Section, Settle, SettleOutcome, Step, Timing,
};
use prony_report::Format;
use prony_store::{LoadRecord, TrialId};
use prony_testkit::planned;

use crate::golden::shown;
use crate::sample::{Sample, at, plan, step};

/// A load of so many rows per second, a fifth of the time for indexes.
fn load(rows_per_second: u64, method: &str) -> LoadOutcome {
    let rows = 4_000_000;
    let ns = rows * 1_000_000_000 / rows_per_second;
    LoadOutcome {
        rows,
        rows_ns: ns / 5 * 4,
        index_ns: ns / 5,
        method: method.into(),
    }
}

fn settled(unmet: &[&str]) -> SettleOutcome {
    SettleOutcome {
        took_ms: 20_000,
        waited_ms: 44_000,
        unmet: unmet.iter().map(|&text| text.to_owned()).collect(),
        debt: vec![debt(DebtKind::HistoryList, 5_300)],
        levels: vec![],
    }
}

fn debt(kind: DebtKind, value: u64) -> Debt {
    Debt { kind, value }
}

/// Reads before and after writes at 1 and 2 clients, in the phases of their sequence.
fn phased(targets: usize, blocks: u32) -> Plan {
    let mut plan = plan(targets, &[], blocks);
    let rate = Display::Rate;
    let steps = [
        ("point-query.warm", Group::Point, rate, Phase::ReadBefore),
        ("point-query.pre", Group::Point, rate, Phase::ReadBefore),
        (
            "scan.pre",
            Group::Range,
            Display::Milliseconds,
            Phase::ReadBefore,
        ),
        ("update-index", Group::Write, rate, Phase::Write),
        (
            "read-write.range100",
            Group::Mixed,
            Display::Transactions,
            Phase::Write,
        ),
        ("point-query", Group::Point, rate, Phase::ReadAfter),
        (
            "scan.post",
            Group::Range,
            Display::Milliseconds,
            Phase::ReadAfter,
        ),
        ("delete", Group::Write, rate, Phase::End),
        ("insert", Group::Write, rate, Phase::End),
    ];
    for (entry, (name, group, display, phase)) in steps.into_iter().enumerate() {
        for clients in [1, 2] {
            let mut step = step(entry, name, group, display);
            step.groups.own_mut().clients = clients;
            step.phase = Some(phase);
            step.groups.own_mut().workload.name = name.split('.').next().unwrap().into();
            step.warm_only = name.ends_with("warm");
            plan.steps.push(step);
        }
    }
    // The first after the writes.
    plan.steps[10].settle = Some(Settle {
        idle_ms: 64_000,
        limit_ms: 1_200_000,
    });
    plan.steps
        .retain(|step| !step.warm_only || step.own().clients == 1);
    plan.preset = Some("smalldatum-2021".into());
    plan.profile = Some("small".into());
    plan.dataset.tables = 2;
    plan.dataset.primary_key = false;
    plan
}

/// The same grouped otherwise: by kind of statement, as a study might show it.
fn sectioned(targets: usize, blocks: u32) -> Plan {
    let mut plan = phased(targets, blocks);
    let section = |title: &str, entries: &[usize]| Section {
        title: title.into(),
        entries: entries.to_vec(),
        display: None,
    };
    plan.sections = vec![
        section("Writes", &[8, 7, 3]),
        section("Point queries", &[1, 5]),
        section("Scans", &[2, 6]),
        section("Warm-up", &[0]),
    ];
    plan
}

/// Runs everything; engines differ in what they leave behind and in whether they become quiet.
fn run(plan: &Plan) -> Sample {
    let mut sample = Sample::new(plan);
    for target in 0..plan.targets.len() {
        let reused = target == 0;
        let fast = [
            "inserts of many rows, 2 connections",
            "LOAD DATA, 2 connections",
        ];
        let outcome = load(
            80_000 - 9_000 * target as u64,
            fast[usize::from(target > 0)],
        );
        let unmet: &[&str] = match target {
            1 => &["dirty pages: 9.0 MiB, not at most 1.0 MiB"],
            _ => &[],
        };
        let record = LoadRecord {
            outcome: Some(&outcome),
            settle: Some(&settled(unmet)),
            image: &format!("{target:016x}"),
            reused,
        };
        sample.store.record_load(target, &record).unwrap();
    }
    for planned in plan.trials.clone() {
        let trial = sample.begin(planned);
        leave_behind(&mut sample, trial, planned);
        sample.record_steps(trial, planned, |_, _| {});
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

fn leave_behind(sample: &mut Sample, trial: TrialId, planned: PlannedTrial) {
    let steps = sample.store.plan().steps.clone();
    let after = |step: &Step| step.phase == Some(Phase::ReadAfter);
    for (index, step) in steps.iter().enumerate() {
        let dirty = (planned.target as u64 * 6 + u64::from(planned.block)) << 20;
        let mut debts = vec![debt(DebtKind::CheckpointAge, 1 << 20)];
        if planned.target < 2 {
            debts.push(debt(
                DebtKind::HistoryList,
                if after(step) { 5_300 } else { 12 },
            ));
        }
        debts.push(debt(
            DebtKind::DirtyBytes,
            if step.phase == Some(Phase::Write) {
                dirty
            } else {
                4096
            },
        ));
        sample.store.record_debt(trial, index, &debts).unwrap();
        if step.settle.is_some() {
            let unmet: &[&str] = match planned {
                PlannedTrial {
                    block: 1,
                    target: 1,
                    ..
                } => &["history list: 5300, not at most 100"],
                _ => &[],
            };
            sample
                .store
                .record_settle(trial, index, &settled(unmet))
                .unwrap();
        }
    }
}

#[test]
fn sections_as_text() {
    insta::assert_snapshot!(shown(&run(&sectioned(3, 2)), Format::Text));
}

#[test]
fn sections_as_markdown() {
    insta::assert_snapshot!(shown(&run(&sectioned(3, 2)), Format::Markdown));
}

#[test]
fn sections_as_csv() {
    insta::assert_snapshot!(shown(&run(&sectioned(2, 1)), Format::Csv));
}

#[test]
fn sections_as_json() {
    insta::assert_snapshot!(shown(&run(&sectioned(2, 2)), Format::Json));
}

#[test]
fn phases_as_text() {
    insta::assert_snapshot!(shown(&run(&phased(2, 1)), Format::Text));
}

/// One step at many numbers of clients, in transactions per second.
#[test]
fn sweep_as_text() {
    let mut plan = plan(3, &[], 2);
    for clients in [1, 2, 4, 8, 1000] {
        let mut step = step(0, "oltp-classic", Group::Mixed, Display::Transactions);
        step.groups.own_mut().clients = clients;
        plan.steps.push(step);
    }
    plan.preset = Some("shootout-2011".into());
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

/// Rows that are loaded in every trial, and steps whose time is that of the whole run.
fn heap() -> Sample {
    let mut plan = plan(2, &[], 2);
    plan.dataset = Dataset {
        schema: Schema::FOO,
        ..Dataset::sbtest(1, 64_000, 1)
    };
    for target in &mut plan.targets {
        target.engine = Engine::Memory;
    }
    for (entry, name) in ["hot-update-unindexed", "hot-update-indexed"]
        .iter()
        .enumerate()
    {
        for clients in [1, 4, 32] {
            let mut step = step(entry, name, Group::Write, Display::Rate);
            step.groups.own_mut().clients = clients;
            step.timing = Timing::WholeRun;
            plan.steps.push(step);
        }
        plan.sections.push(Section {
            title: name.replace('-', " "),
            entries: vec![entry],
            display: None,
        });
    }
    let mut sample = Sample::new(&plan);
    for planned in plan.trials.clone() {
        let trial = sample.begin(planned);
        let moody = 90_000 - 20_000 * planned.target as u64 + 500 * u64::from(planned.block);
        sample
            .store
            .record_trial_load(
                trial,
                &load(moody, "inserts of many rows, 1 connection"),
                None,
            )
            .unwrap();
        sample.record_steps(trial, planned, |_, outcome| {
            outcome.timing = Timing::WholeRun;
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

#[test]
fn heap_as_text() {
    insta::assert_snapshot!(shown(&heap(), Format::Text));
}

#[test]
fn heap_as_csv() {
    insta::assert_snapshot!(shown(&heap(), Format::Csv));
}

/// Trees of which one has files in level 0, after the load and before the second step.
#[test]
fn trees_as_text() {
    let mut plan = plan(2, &[1], 2);
    plan.steps.truncate(2);
    plan.steps[1].settle = Some(Settle {
        idle_ms: 0,
        limit_ms: 1000,
    });
    let mut sample = Sample::new(&plan);
    let level = |level, files, mib: u64| Level {
        level,
        files,
        bytes: mib << 20,
    };
    for target in 0..2 {
        let mut settle = settled(&[]);
        settle.levels = vec![level(5, 1, 4 + target), level(6, 9, 600)];
        let record = LoadRecord {
            outcome: None,
            settle: Some(&settle),
            image: "0",
            reused: false,
        };
        let index = usize::from(target > 0);
        sample.store.record_load(index, &record).unwrap();
        for block in 0..2 {
            let mut settle = settled(&[]);
            settle.levels = vec![level(6, 8 + u64::from(block), 700)];
            if target == 1 {
                settle.levels.insert(0, level(0, 3, 150 - u64::from(block)));
            }
            let trial = sample.begin(planned(block, index));
            sample.store.record_settle(trial, 1, &settle).unwrap();
            sample.record_steps(trial, planned(block, index), |_, _| {});
            sample.store.finish_trial(trial, at(60)).unwrap();
        }
    }
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

/// More places with unequal work than a screen holds.
#[test]
fn much_work_left_over_is_cut_short_in_text_alone() {
    let mut plan = plan(2, &[], 1);
    for entry in 0..40 {
        plan.steps.push(step(
            entry,
            &format!("step-{entry}"),
            Group::Write,
            Display::Rate,
        ));
    }
    let mut sample = Sample::new(&plan);
    for target in 0..2 {
        let trial = sample.begin(planned(0, target));
        for step in 0..40 {
            let files = debt(DebtKind::L0Files, target as u64);
            sample.store.record_debt(trial, step, &[files]).unwrap();
        }
        sample.record_steps(trial, planned(0, target), |_, _| {});
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    let text = shown(&sample, Format::Text);
    assert!(text.contains("… and 10 more rows"), "{text}");
    assert!(!text.contains("step-39: L0 files"), "{text}");
    let markdown = shown(&sample, Format::Markdown);
    assert!(markdown.contains("step-39: L0 files"), "{markdown}");
}

#[test]
fn long_names_keep_to_the_width() {
    let mut plan = phased(3, 1);
    for target in &mut plan.targets {
        target.name = format!("{}-matched-binlog-off", target.name);
    }
    let text = shown(&run(&plan), Format::Text);
    assert!(text.contains("Work left over"), "{text}");
}

/// Work left over counts as unequal when it differs by more than the bound of its kind.
#[test]
fn work_left_over_is_compared_within_a_bound() {
    for kind in DebtKind::all() {
        for (more, unequal) in [(0, false), (1, true)] {
            let mut plan = plan(2, &[1], 1);
            plan.steps.truncate(1);
            let mut sample = Sample::new(&plan);
            for (target, value) in [(0, 5), (1, 5 + kind.bound() + more)] {
                let trial = sample.begin(planned(0, target));
                let debts = [debt(kind, value)];
                sample.store.record_debt(trial, 0, &debts).unwrap();
                sample.record_steps(trial, planned(0, target), |_, _| {});
                sample.store.finish_trial(trial, at(60)).unwrap();
            }
            let text = shown(&sample, Format::Text);
            assert_eq!(text.contains("Work left over"), unequal, "{text}");
            assert_eq!(text.contains("! 0.833"), unequal, "{text}");
            let json = shown(&sample, Format::Json);
            assert_eq!(json.contains("differs from mysql-5.0's"), unequal);
        }
    }
}

/// A step of deletes, or of updates after them, each of which finds `found` rows in a thousand.
fn gone(change: &str, max: u64, found: [u64; 3]) -> Sample {
    let mut plan = plan(3, &[], 2);
    let mut step = step(0, change, Group::Write, Display::Rate);
    step.groups.own_mut().workload.effect = Effect::Shrink;
    step.groups.own_mut().workload.statements[0].name = change.into();
    step.groups.own_mut().workload.statements[0].expect.affected = Some(CountRange { min: 0, max });
    plan.steps.push(step);
    let mut sample = Sample::new(&plan);
    for planned in plan.trials.clone() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |_, outcome| {
            let operations = outcome.groups.own().operations;
            let statement = &mut outcome.groups.own_mut().statements[0];
            statement.name = change.into();
            statement.count = operations / 1000 * 1000;
            statement.affected = statement.count * max / 1000 * found[planned.target];
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

/// A faster server asks more often for rows that it has deleted already, which takes less time.
#[test]
fn deletes_of_nothing_as_text() {
    insta::assert_snapshot!(shown(&gone("delete", 1, [620, 812, 629]), Format::Text));
}

#[test]
fn rows_that_were_gone_are_compared_within_a_point() {
    let noted = |sample: &Sample| shown(sample, Format::Json).contains("of its rows");
    assert!(!noted(&gone("delete", 1, [620, 629, 611])));
    assert!(noted(&gone("delete", 1, [620, 620, 609])));
    // Of a list, it is the share of the most that it could change.
    assert!(!noted(&gone("update", 100, [620, 629, 611])));
    assert!(noted(&gone("update", 100, [620, 620, 609])));
}
