//! Verdicts on runs whose true ratios are known.

use prony_model::{
    Campaign, Counter, IDENTITY, Metric, Moment, Pace, Plan, PlannedTrial, Schedule, Source,
    Spacing, Step, StepOutcome, Thousandths, Verdict,
};
use prony_report::{Format, Judgement, identical_servers, judgements, render};
use prony_store::Subject;
use prony_testkit::planned;
use serde_json::Value;

use crate::golden::shown;
use crate::sample::{Sample, at, histogram, plan};

/// Operations of a step.
const OPERATIONS: u64 = 20_000;

/// Nanoseconds of an operation at the base.
const BASE_NS: f64 = 100_000.0;

/// Noise of blocks, which adds to nothing over two or five blocks: of one side of a pair, as a share.
pub(crate) fn noise(block: u32) -> f64 {
    [0.4, -0.5, 0.1, 0.3, -0.3][block as usize % 5] / 100.0
}

/// The time of an operation relative to the base's usual one.
pub(crate) type Slowness = dyn Fn(PlannedTrial, usize) -> f64;

/// Runs the trials that `wanted` chooses.
fn run(sample: &mut Sample, slowness: &Slowness, wanted: impl Fn(PlannedTrial) -> bool) {
    for planned in sample.store.missing_trials().unwrap() {
        if wanted(planned) {
            let trial = sample.begin(planned);
            sample.record_steps(trial, planned, |step, outcome| {
                slow(outcome, slowness(planned, step));
            });
            sample.store.finish_trial(trial, at(60)).unwrap();
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time of microseconds"
)]
fn slow(outcome: &mut StepOutcome, slowness: f64) {
    let each_ns = (BASE_NS * slowness).round() as u64;
    let own = outcome.groups.own_mut();
    own.operations = OPERATIONS;
    own.queries = OPERATIONS;
    own.busy_ns = OPERATIONS * each_ns;
    own.histogram = histogram(each_ns, OPERATIONS);
}

/// A run of this plan, complete.
pub(crate) fn complete(plan: &Plan, slowness: &Slowness) -> Sample {
    let mut sample = Sample::new(plan);
    run(&mut sample, slowness, |_| true);
    sample
}

/// Slower by a quarter, alike within a thousandth, faster by a fifth, and unsteady.
pub(crate) fn four_ways(planned: PlannedTrial, step: usize) -> f64 {
    if planned.target == 0 {
        return 1.0;
    }
    let unsteady = 1.0 + 12.0 * noise(planned.block);
    let ratio = [1.25, 1.001, 0.8, 1.012 * unsteady][step];
    ratio * (1.0 + noise(planned.block) / 4.0)
}

fn throughput(sample: &Sample) -> Vec<Judgement> {
    let all = judgements(&sample.store).unwrap().into_iter();
    all.filter(|judged| judged.metric == Metric::Operations && judged.group == 0)
        .collect()
}

fn verdicts(sample: &Sample) -> Vec<Verdict> {
    let judged = throughput(sample).into_iter();
    judged.map(|judged| judged.verdict).collect()
}

fn json(sample: &Sample) -> Value {
    serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap()
}

/// The report in words; no format has a figure that is none.
fn text(sample: &Sample) -> String {
    for format in [Format::Markdown, Format::Csv, Format::Json] {
        let report = shown(sample, format);
        assert!(!report.contains("NaN") && !report.contains("inf,"));
    }
    let text = shown(sample, Format::Text);
    assert!(!text.contains("NaN") && !text.contains(" inf"), "{text}");
    text
}

/// A text without its line breaks.
pub(crate) fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn has(text: &str, part: &str) {
    assert!(flowing(text).contains(part), "{text}");
}

#[test]
fn known_ratios_get_their_verdicts() {
    let sample = complete(&plan(2, &[1], 10), &four_ways);
    let expected = [
        Verdict::Regressed,
        Verdict::Equivalent,
        Verdict::Improved,
        Verdict::Inconclusive,
    ];
    assert_eq!(verdicts(&sample), expected);
    for judged in throughput(&sample) {
        let interval = judged.interval.unwrap();
        assert!(interval.low < judged.ratio && judged.ratio < interval.high);
        assert_eq!((judged.pairs, judged.target), (10, 1));
    }
    // Times have the opposite good direction.
    let times: Vec<Verdict> = judgements(&sample.store)
        .unwrap()
        .into_iter()
        .filter(|judged| judged.metric == Metric::ServiceP95)
        .map(|judged| judged.verdict)
        .collect();
    assert_eq!(times, expected);
}

#[test]
fn verdicts_as_text() {
    let sample = complete(&plan(2, &[1], 10), &four_ways);
    text(&sample);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

#[test]
fn verdicts_as_json() {
    let report = json(&complete(&plan(2, &[1], 10), &four_ways));
    let judged = &report["verdicts"]["judged"];
    let first = &judged[0];
    assert_eq!(first["step"], "point-query");
    assert_eq!(first["target"], "mysql-5.7");
    assert_eq!(first["metric"], "operations_per_second");
    assert_eq!(first["verdict"], "regressed");
    assert_eq!(first["size"], "beyond");
    assert_eq!(first["significant"], true);
    assert_eq!(first["margin_percent"], 1.0);
    assert_eq!(first["n"], 10);
    // Throughput and four service times of four steps.
    assert_eq!(report["verdicts"]["tested"], 20);
    assert_eq!(judged.as_array().unwrap().len(), 20);
    let unsteady = &judged[15];
    assert_eq!(unsteady["step"], "scan");
    assert_eq!(unsteady["verdict"], "inconclusive");
    assert_eq!(unsteady["size"], "may-be-within");
    assert!(unsteady["more_blocks"].as_u64().unwrap() > 0);
}

#[test]
fn verdicts_as_csv() {
    let sample = complete(&plan(2, &[1], 10), &four_ways);
    let csv = render(&sample.store, Format::Csv).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let verdict = at("verdict.operations_per_second");
    let (target, step) = (at("target"), at("step"));
    for line in lines {
        let expected = match (line[target], line[step]) {
            ("mysql-5.0", _) => "",
            (_, "point-query") => "regressed",
            (_, "read-only.range100") => "equivalent",
            (_, "update-index") => "improved",
            _ => "inconclusive",
        };
        assert_eq!(line[verdict], expected, "{line:?}");
    }
}

#[test]
fn a_report_made_twice_is_the_same() {
    let sample = complete(&with_twin(10), &four_ways);
    for format in [Format::Text, Format::Markdown, Format::Csv, Format::Json] {
        assert_eq!(shown(&sample, format), shown(&sample, format));
    }
}

/// A difference may be known and still be within the margin.
#[test]
fn known_small_differences_are_equivalent() {
    let sample = complete(&plan(2, &[1], 10), &|planned, _| match planned.target {
        0 => 1.0,
        _ => 1.004 * (1.0 + noise(planned.block) / 4.0),
    });
    assert_eq!(verdicts(&sample), [Verdict::Equivalent; 4]);
    let first = &json(&sample)["verdicts"]["judged"][0];
    assert_eq!(
        (&first["significant"], &first["size"]),
        (&true.into(), &"within".into())
    );
    let part = "Different and equivalent: point-query, mysql-5.7 slower by 0.4 %, within the margin \
                of 1 %";
    has(&text(&sample), part);
}

#[test]
fn four_blocks_give_no_verdict() {
    let sample = complete(&plan(2, &[1], 4), &four_ways);
    assert_eq!(verdicts(&sample), [Verdict::Inconclusive; 4]);
    let text = text(&sample);
    has(
        &text,
        "A verdict takes 5 blocks, and no ratio rests on more than 4 yet",
    );
    assert!(!text.contains("regressed"), "{text}");
    assert_eq!(json(&sample)["verdicts"]["judged"][0]["more_blocks"], 1);
}

#[test]
fn one_block_has_ratios_alone() {
    let sample = complete(&plan(2, &[1], 1), &four_ways);
    let judged = throughput(&sample);
    assert!(judged.iter().all(|judged| judged.interval.is_none()));
    let text = text(&sample);
    has(&text, "no ratio rests on more than 1 yet");
    let mut lines = text.lines();
    let is_alone = |line: &str| flowing(line) == "point-query 0.799";
    assert!(lines.any(is_alone), "{text}");
}

#[test]
fn one_target_has_no_answer() {
    let text = text(&complete(&plan(1, &[1], 5), &four_ways));
    assert!(
        !text.contains("Answer") && !text.contains("erdict"),
        "{text}"
    );
}

#[test]
fn a_base_that_failed_everywhere_leaves_nothing_to_compare() {
    let mut sample = Sample::new(&plan(2, &[1], 5));
    for block in 0..5 {
        let trial = sample.begin(planned(block, 0));
        let failed = sample
            .store
            .fail_trial(trial, "it did not start", "", at(9));
        failed.unwrap();
    }
    run(&mut sample, &four_ways, |trial| trial.target == 1);
    assert_eq!(judgements(&sample.store).unwrap(), []);
    let part = "Nothing to compare: no trial of the base mysql-5.0 is done, and some failed";
    has(&text(&sample), part);
}

#[test]
fn complete_pairs_are_used_where_trials_are_lost() {
    let mut sample = Sample::new(&plan(2, &[1], 10));
    run(&mut sample, &four_ways, |trial| {
        trial.target == 0 || !(2..7).contains(&trial.block)
    });
    let judged = &throughput(&sample)[0];
    assert_eq!((judged.pairs, judged.verdict), (5, Verdict::Regressed));
    let text = text(&sample);
    has(
        &text,
        "5 of 10 blocks are complete: verdicts can still change",
    );
    has(&text, "geometric mean of 5 blocks");
}

/// Base, its twin and one contender.
fn with_twin(blocks: u32) -> Plan {
    let mut plan = plan(3, &[1], blocks);
    plan.targets[2] = plan.targets[0].clone();
    plan.targets[2].name = "mysql-5.0-again".into();
    plan.twin = Some(2);
    plan
}

/// Identical servers that differ by 0.2 %, and by this share in the last step; the contender is slower
/// by 2 % everywhere.
pub(crate) fn twins(differing: f64) -> Sample {
    complete(&with_twin(10), &move |planned, step| {
        let quiet = 1.0 + noise(planned.block) / 10.0;
        match (planned.target, step) {
            (0, _) => 1.0,
            (1, _) => 1.02 * quiet,
            (_, 3) => (1.0 + differing) * quiet,
            _ => 1.0 + noise(planned.block),
        }
    })
}

#[test]
fn identical_servers_are_no_contender() {
    let sample = twins(0.0);
    let text = text(&sample);
    has(
        &text,
        "Identical servers: 20 comparisons, largest difference ",
    );
    let columns = text.lines().filter(|line| line.contains("mysql-5.7 "));
    assert!(
        columns.into_iter().all(|line| !line.contains("again")),
        "{text}"
    );
    assert!(
        judgements(&sample.store)
            .unwrap()
            .iter()
            .all(|judged| judged.target == 1)
    );
    // 1 % is the margin of one reader.
    assert_eq!(verdicts(&sample), [Verdict::Regressed; 4]);
    assert_eq!(json(&sample)["verdicts"]["tested"], 20);
    let report = json(&sample)["identical_servers"].clone();
    let comparisons = report["comparisons"].as_array().unwrap();
    let of_throughput = comparisons
        .iter()
        .filter(|one| one["metric"] == "operations_per_second");
    assert!(
        of_throughput
            .into_iter()
            .all(|one| one["holds_one"] == true)
    );
    let alarms = comparisons
        .iter()
        .filter(|one| one["holds_one"] == false)
        .count();
    let counts = identical_servers(&sample.store).unwrap().unwrap();
    assert_eq!((counts.comparisons, counts.alarms), (20, alarms as u64));
    let plain = complete(&plan(2, &[1], 2), &four_ways);
    assert_eq!(identical_servers(&plain.store).unwrap(), None);
    let report = flowing(&shown(&plain, Format::Text));
    assert!(report.contains("Identical servers were not compared in this run"));
}

#[test]
fn a_host_can_be_unfit_for_a_margin() {
    let sample = twins(0.03);
    let text = text(&sample);
    has(&text, "largest difference 3 % (scan, ");
    let unfit = "This host is unfit for a margin of 1 % at scan: identical servers differ by 3 %";
    has(&text, unfit);
    // 2 % are less than what identical servers differ by: doubtful, and never equivalent within 1 %.
    assert_eq!(verdicts(&sample), [Verdict::Regressed; 4]);
    has(&text, "! 0.980 regressed, within");
    has(
        &text,
        "Marked !, because identical servers differ by more than the margin: scan, mysql-5.7",
    );
    let counts = identical_servers(&sample.store).unwrap().unwrap();
    // Throughput and four times.
    assert!(counts.comparisons == 20 && counts.alarms >= 5);
    let scan = json(&sample)["identical_servers"]["comparisons"][15].clone();
    assert_eq!(scan["metric"], "operations_per_second");
    assert_eq!(
        (&scan["step"], &scan["holds_one"]),
        (&"scan".into(), &false.into())
    );
}

#[test]
fn identical_servers_alone_are_reported() {
    let mut plan = with_twin(5);
    plan.targets.remove(1);
    plan.trials.retain(|trial| trial.target < 2);
    plan.twin = Some(1);
    let text = text(&complete(&plan, &|planned, _| 1.0 + noise(planned.block)));
    has(&text, "Identical servers: 20 comparisons");
    assert!(!text.contains("Nothing to compare yet"), "{text}");
}

#[test]
fn looks_that_are_planned_decide_what_counts() {
    let mut plan = plan(2, &[1], 12);
    plan.campaign = Some(Campaign {
        precision_percent: Thousandths(1_000),
        budget_ms: 1,
        looks: vec![6, 10, 20],
    });
    let sample = complete(&plan, &four_ways);
    let mut fixed = plan.clone();
    fixed.campaign = None;
    fixed.trials.retain(|trial| trial.block < 10);
    let fixed = complete(&fixed, &four_ways);
    let (planned, alone) = (&throughput(&sample)[0], &throughput(&fixed)[0]);
    assert_eq!((planned.pairs, planned.ratio), (10, alone.ratio));
    let (wider, interval) = (planned.interval.unwrap(), alone.interval.unwrap());
    assert!(wider.low < interval.low && interval.high < wider.high);
    has(
        &text(&sample),
        "Blocks since the last look count at the next one.",
    );
    // Before the first look nothing is called anything.
    let mut early = Sample::new(&plan);
    run(&mut early, &four_ways, |trial| trial.block < 5);
    assert_eq!(verdicts(&early), [Verdict::Inconclusive; 4]);
}

#[test]
fn steps_at_a_rate_count_by_their_response_times() {
    let mut plan = plan(2, &[1], 5);
    plan.steps.truncate(1);
    plan.steps[0].groups.own_mut().pace = Pace::Open {
        rate: Thousandths(1_000_000),
        spacing: Spacing::Poisson,
    };
    let mut sample = Sample::new(&plan);
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |_, outcome| {
            slow(outcome, 1.0);
            let slower = 300_000 * (1 + planned.target as u64) + u64::from(planned.block) * 500;
            outcome.groups.own_mut().schedule = Some(Schedule {
                planned: OPERATIONS,
                backlog: 0,
                left: 0,
                response: histogram(slower, OPERATIONS),
                error: histogram(40_000, OPERATIONS),
            });
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    assert_eq!(verdicts(&sample), [Verdict::Equivalent]);
    let text = text(&sample);
    has(&text, "point-query, mysql-5.7: mean response time 1.99");
    has(&text, "point-query: mean response time");
}

#[test]
fn warnings_about_trials_cast_doubt() {
    let mut sample = complete(&plan(2, &[1], 5), &four_ways);
    let trial = sample.store.trials().unwrap()[0].id;
    let warned = sample
        .store
        .record_warning(Subject::Trial(trial), "canary", "slow memory");
    warned.unwrap();
    has(
        &text(&sample),
        "Marked !, because warnings concern its trials: point-query, mysql-5.7",
    );
    assert_eq!(
        json(&sample)["verdicts"]["judged"][0]["doubts"][0],
        "trials"
    );
}

/// A server that is slower with the same processor time.
pub(crate) fn waiting() -> Sample {
    let mut plan = plan(2, &[1], 5);
    plan.steps.truncate(1);
    let mut sample = Sample::new(&plan);
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |step, outcome| {
            slow(outcome, four_ways(planned, step));
        });
        let cpu = 15_000 + 3 * u64::from(planned.block) + planned.target as u64;
        let taken = |moment, at_ns, done: u64| prony_model::Sample {
            moment,
            at_ns,
            took_ns: 1,
            values: [
                (Counter::new(Source::Process, "cpu_ns"), done * cpu),
                (IDENTITY, 1),
            ]
            .into(),
            gaps: Vec::new(),
        };
        let samples = [
            taken(Moment::Start, 1, 0),
            taken(Moment::End, 2_000_000_000, OPERATIONS),
        ];
        sample.store.record_samples(trial, 0, &samples).unwrap();
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

#[test]
fn slower_and_not_dearer_is_waiting() {
    let sample = waiting();
    has(
        &text(&sample),
        "point-query, mysql-5.7: slower and not dearer",
    );
    let found = &json(&sample)["verdicts"]["disagreements"][0];
    assert_eq!(
        (&found["throughput"], &found["cost"]),
        (&"regressed".into(), &"equivalent".into())
    );
}

#[test]
fn parts_have_ratios_over_their_steps() {
    let mut plan = plan(2, &[1], 5);
    let phase = |step: &mut Step, phase| step.phase = Some(phase);
    phase(&mut plan.steps[0], prony_model::Phase::ReadBefore);
    phase(&mut plan.steps[1], prony_model::Phase::ReadBefore);
    phase(&mut plan.steps[2], prony_model::Phase::Write);
    phase(&mut plan.steps[3], prony_model::Phase::End);
    let sample = complete(&plan, &|planned, step| match planned.target {
        0 => 1.0,
        _ => [1.25, 1.0, 0.8, 1.0][step] * (1.0 + noise(planned.block) / 100.0),
    });
    let overall = json(&sample)["overall"].clone();
    let ratio = |part: usize| overall[part]["ratio"]["ratio"].as_f64().unwrap();
    assert_eq!(
        (&overall[0]["section"], &overall[0]["steps"]),
        (&Value::Null, &4.into())
    );
    // 1 ÷ 1.25 × 1 ÷ 0.8 is 1.
    assert!((ratio(0) - 1.0).abs() < 1e-4);
    assert!((ratio(1) - 0.8_f64.sqrt()).abs() < 1e-4);
    assert!((ratio(2) - 1.25).abs() < 1e-4);
    has(
        &text(&sample),
        "Reads before the writes 0.894 [0.894, 0.894]",
    );
}
