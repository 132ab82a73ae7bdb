//! Findings, the table of ratios, and the choice of steps.

use prony_model::{AdditionReason, Phase, Plan, Version};
use prony_plan::more_trials;
use prony_report::{Extent, Format, ReportError, Screen, StepChoice, render, render_extent};
use prony_store::Addition;
use prony_testkit::planned;
use serde_json::Value;

use crate::golden::{with_gaps, with_warnings};
use crate::lineage::{run as run_versions, versions};
use crate::paces::paced;
use crate::sample::{Sample, at, plan};
use crate::verdicts::{complete, flowing, four_ways, noise, twins, waiting};

/// An extent of a report as text.
fn text_of(sample: &Sample, extent: &Extent) -> String {
    let text = render_extent(&sample.store, Format::Text, extent, None, Screen::default()).unwrap();
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    assert!(!text.contains("NaN"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    text
}

fn answer(sample: &Sample) -> String {
    text_of(sample, &Extent::Answer)
}

fn chosen(names: &[&str], clients: &[u32], sections: &[&str]) -> Extent {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Extent::Steps(StepChoice {
        names: owned(names),
        clients: clients.to_vec(),
        sections: owned(sections),
    })
}

fn findings(sample: &Sample) -> Vec<Value> {
    let json = render(&sample.store, Format::Json).unwrap();
    let report: Value = serde_json::from_str(&json).unwrap();
    report["findings"].as_array().unwrap().clone()
}

#[track_caller]
fn of_kind<'a>(findings: &'a [Value], kind: &str) -> &'a Value {
    let found = findings.iter().find(|finding| finding["kind"] == kind);
    assert!(found.is_some(), "no {kind} in {findings:#?}");
    found.unwrap()
}

/// Three targets and eight steps in six blocks, as the quickstart has them, with a twin.
fn quickstart() -> Sample {
    let mut plan = plan(3, &[1, 2], 6);
    let mut twin = plan.targets[0].clone();
    twin.name = "mysql-5.0-again".into();
    plan.twin = Some(plan.targets.len());
    plan.targets.push(twin);
    plan.trials = more_trials(&plan, 0, 6);
    complete(&plan, &|planned, step| {
        let unsteady = 1.0 + noise(planned.block) * (step % 4) as f64;
        let slower = [1.0, 1.1, 1.4, 1.004][planned.target];
        slower * unsteady.powi([0, 1, 1, 1][planned.target])
    })
}

#[test]
fn the_answer_of_a_quickstart_fits_a_screen() {
    let text = answer(&quickstart());
    assert!(text.lines().count() <= 40, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn answer_as_markdown() {
    let sample = quickstart();
    let extent = Extent::Answer;
    let report = render_extent(
        &sample.store,
        Format::Markdown,
        &extent,
        None,
        Screen::default(),
    );
    insta::assert_snapshot!(report.unwrap());
}

#[test]
fn answer_of_doubtful_figures() {
    insta::assert_snapshot!(answer(&twins(0.03)));
}

#[test]
fn answer_of_gaps() {
    insta::assert_snapshot!(answer(&with_gaps()));
}

#[test]
fn answer_without_verdicts_has_no_signs() {
    let text = answer(&with_warnings());
    assert!(!text.contains(['▼', '▲', '~']), "{text}");
    let words = "nothing is called better, worse or equivalent";
    assert!(flowing(&text).contains(words), "{text}");
}

#[test]
fn answer_of_operations_at_a_rate() {
    insta::assert_snapshot!(answer(&paced()));
}

#[test]
fn nothing_to_compare_shows_figures() {
    let text = answer(&complete(&plan(1, &[1], 5), &four_ways));
    assert!(text.contains("Queries per second at 1 client"), "{text}");
    assert!(!text.contains("Answer"), "{text}");
    let text = answer(&Sample::new(&plan(2, &[1], 2)));
    assert!(text.contains("No trial is done yet"), "{text}");
}

/// Every verdict that a finding names is that of its cell.
#[test]
fn findings_say_no_more_than_verdicts() {
    for sample in [
        complete(&plan(2, &[1], 10), &four_ways),
        twins(0.03),
        waiting(),
        quickstart(),
    ] {
        let json = render(&sample.store, Format::Json).unwrap();
        let report: Value = serde_json::from_str(&json).unwrap();
        let judged = report["verdicts"]["judged"].as_array().unwrap();
        let verdict = |cell: &Value| {
            let same = |one: &&Value| {
                let keys = ["step", "clients", "beside", "target", "metric"];
                keys.iter().all(|&key| one[key] == cell[key])
            };
            let found = judged.iter().find(same);
            found.map(|one| one["verdict"].as_str().unwrap().to_owned())
        };
        for finding in report["findings"].as_array().unwrap() {
            let (kind, text) = (finding["kind"].as_str().unwrap(), &finding["text"]);
            let text = text.as_str().unwrap();
            let cells = finding["cells"].as_array().unwrap();
            for wanted in ["regressed", "improved", "equivalent", "inconclusive"] {
                let n = cells
                    .iter()
                    .filter(|cell| verdict(cell).as_deref() == Some(wanted));
                let n = n.count();
                match kind {
                    "counts" if n > 0 => {
                        let of_steps = text.replace(&format!(" of {} step", cells.len()), "");
                        let counted = of_steps.replace("s regressed", " regressed");
                        assert!(counted.contains(&format!("{n} {wanted}")), "{text}");
                    }
                    "largest-regression" | "largest-improvement" | "disagreement" | "counts" => {
                        assert_eq!(text.contains(wanted), n > 0, "{text}");
                    }
                    _ => {}
                }
            }
            for figure in finding["figures"].as_array().unwrap() {
                assert!(text.contains(figure["text"].as_str().unwrap()), "{text}");
            }
        }
    }
}

#[test]
fn the_largest_differences_come_first() {
    let found = findings(&quickstart());
    let first = of_kind(&found, "largest-regression");
    let text = first["text"].as_str().unwrap();
    assert!(text.starts_with("Largest regression: "), "{text}");
    assert_eq!(first["cells"][0]["target"], "mysql-9.7");
    let of_kind = |finding: &&Value| finding["kind"] == "largest-regression";
    let regressions = found.iter().filter(of_kind);
    let values = regressions.map(|finding| finding["figures"][0]["value"].as_f64().unwrap());
    let values: Vec<f64> = values.collect();
    assert!(values.is_sorted() && values.len() == 8, "{values:?}");
}

/// Versions from old to new, the first of which is the base.
fn ascending() -> Plan {
    let mut plan = versions(6);
    plan.base = 0;
    plan.twin = None;
    plan.targets.truncate(6);
    for (index, target) in plan.targets.iter_mut().enumerate() {
        target.build.version = Version::new(5, u16::try_from(index).unwrap(), 0);
    }
    plan.trials.retain(|trial| trial.target < 6);
    plan
}

#[test]
fn differences_of_versions_have_a_beginning() {
    let begins = |plan: &Plan| {
        let found = findings(&run_versions(plan, |_| true));
        let text = of_kind(&found, "largest-regression")["text"].clone();
        text.as_str().unwrap().to_owned()
    };
    let text = begins(&ascending());
    let words = "it begins between mysql-5.1.73 and mysql-5.5.34, 0.9";
    assert!(text.contains(words), "{text}");
    // Other configurations of one version are no lineage.
    let mut alike = ascending();
    alike.targets[3].build.version = alike.targets[2].build.version;
    let text = begins(&alike);
    assert!(!text.contains("begins"), "{text}");
}

#[test]
fn costs_with_the_same_verdict_are_named() {
    let found = findings(&waiting());
    let text = of_kind(&found, "largest-regression")["text"]
        .as_str()
        .unwrap();
    assert!(!text.contains("with it"), "{text}");
    assert!(
        found
            .iter()
            .any(|finding| finding["kind"] == "disagreement")
    );
}

#[test]
fn blocks_that_the_user_added_are_a_doubt() {
    let mut sample = complete(&plan(2, &[1], 5), &four_ways);
    assert!(!answer(&sample).contains("appended"));
    for reason in [AdditionReason::Append, AdditionReason::Campaign] {
        let plan = sample.store.plan();
        let addition = Addition {
            reason,
            trials: more_trials(plan, plan.blocks(), 2),
            without: Vec::new(),
        };
        sample.store.add_trials(&addition, at(90)).unwrap();
    }
    let found = findings(&sample);
    let text = of_kind(&found, "appended-blocks")["text"].as_str().unwrap();
    assert!(
        text.starts_with("2 of 9 blocks were appended by the user"),
        "{text}"
    );
    let text = of_kind(&found, "incomplete")["text"].as_str().unwrap();
    assert_eq!(
        text,
        "5 of 9 blocks are complete: verdicts can still change"
    );
}

#[test]
fn failed_trials_are_counted_by_target() {
    let mut sample = Sample::new(&plan(2, &[1], 3));
    for block in 0..2 {
        let trial = sample.begin(planned(block, 1));
        sample
            .store
            .fail_trial(trial, "it ended", "", at(9))
            .unwrap();
    }
    sample.run(|trial| trial.target == 0 || trial.block == 2);
    let text = of_kind(&findings(&sample), "failed-trials")["text"].clone();
    assert_eq!(text, "2 trials failed: 2 of mysql-5.7");
    // The same reason is given once.
    assert_eq!(answer(&sample).matches("failed: it ended").count(), 1);
}

/// Four steps at two numbers of clients, in two parts.
fn phased() -> Sample {
    let mut plan = plan(2, &[1, 8], 5);
    for step in &mut plan.steps {
        let writes = step.name.starts_with("update");
        step.phase = Some(if writes {
            Phase::Write
        } else {
            Phase::ReadBefore
        });
    }
    complete(&plan, &|planned, _| {
        1.0 + noise(planned.block) * planned.target as f64
    })
}

#[test]
fn details_are_of_the_chosen_steps() {
    let sample = phased();
    let text = text_of(&sample, &chosen(&["point-query", "sc*"], &[8], &[]));
    assert!(text.contains("The details of 2 of 8 steps"), "{text}");
    for absent in [
        "read-only",
        "update-index",
        "at 1 client",
        "Writes",
        "Answer",
    ] {
        assert!(!text.contains(absent), "{absent} in {text}");
    }
    assert!(text.contains("point-query") && text.contains("scan"));
    let text = text_of(&sample, &chosen(&[], &[], &["writes"]));
    assert!(text.contains("The details of 2 of 8 steps"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn unknown_steps_are_refused_with_the_known_ones() {
    let sample = phased();
    let refused = |extent: &Extent, format| {
        let report = render_extent(&sample.store, format, extent, None, Screen::default());
        report.unwrap_err()
    };
    let words = |extent: &Extent| refused(extent, Format::Text).to_string();
    let text = words(&chosen(&["inser"], &[], &[]));
    assert!(
        text.contains("step `inser`") && text.contains("point-query, read-only"),
        "{text}"
    );
    let text = words(&chosen(&[], &[3], &[]));
    assert!(
        text.contains("number of clients `3`") && text.contains("has 1, 8"),
        "{text}"
    );
    let text = words(&chosen(&[], &[], &["loads"]));
    assert!(
        text.contains("section `loads`") && text.contains("Writes"),
        "{text}"
    );
    let none = refused(&chosen(&["scan"], &[], &["Writes"]), Format::Markdown);
    assert!(matches!(none, ReportError::NoStepChosen));
    let data = refused(&chosen(&["scan"], &[], &[]), Format::Csv);
    assert!(matches!(data, ReportError::StepsOfData));
}

#[test]
fn a_caution_about_a_build_is_among_the_findings() {
    let mut plan = plan(2, &[1], 2);
    plan.targets[1].build.caution = Some("built for 32 bits".into());
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    let text = format!("{}: built for 32 bits", plan.targets[1].build.id);
    assert_eq!(of_kind(&findings(&sample), "caution")["text"], text);
    assert!(answer(&sample).contains(&text));
}
