//! Comparisons of cells in one run and between runs.

use prony_model::{Dataset, Metric, Plan};
use prony_report::{Format, Question, compare};
use prony_store::Store;
use serde_json::Value;

use crate::costs;
use crate::sample::{Sample, plan};

const QUESTION: Question<'static> = Question {
    filter: "",
    table: "section",
    row: "step,clients,beside",
    column: "run,target",
    base: None,
    metric: Metric::Operations,
    values: false,
};

fn measured(plan: &Plan) -> Sample {
    let mut sample = Sample::new(plan);
    sample.run(|_| true);
    sample
}

fn named<'a>(samples: &[&'a Sample]) -> Vec<(Option<String>, &'a Store)> {
    let samples = samples.iter().enumerate();
    samples
        .map(|(index, sample)| (Some(format!("run{}", index + 1)), &sample.store))
        .collect()
}

fn json(samples: &[&Sample], question: &Question<'_>) -> Value {
    let text = compare(&named(samples), question, Format::Json).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// All figures of the only table.
fn figures(json: &Value) -> Vec<&Value> {
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    let figures = rows
        .iter()
        .flat_map(|row| row["figures"].as_array().unwrap());
    figures.collect()
}

fn by_run() -> Question<'static> {
    Question {
        row: "target,step,clients",
        column: "run",
        ..QUESTION
    }
}

#[test]
fn a_run_compared_with_itself_has_the_ratio_one_and_says_so() {
    let run = measured(&plan(2, &[1], 6));
    let json = json(&[&run, &run], &by_run());
    let note = json["notes"][0].as_str().unwrap();
    assert!(note.contains("given more than once"), "{note}");
    let figures = figures(&json);
    assert_eq!(figures.len(), 16);
    for figure in figures {
        let expected = if figure["way"] == "reference" {
            Value::Null
        } else {
            1.0.into()
        };
        assert_eq!(figure["ratio"], expected, "{figure}");
    }
}

#[test]
fn the_same_work_matches_under_another_name_and_other_work_does_not() {
    let first = measured(&plan(1, &[1], 2));
    let mut renamed = plan(1, &[1], 2);
    renamed.steps[0].name = "select-one".into();
    let renamed = measured(&renamed);
    let rows = |json: &Value| json["tables"][0]["rows"].as_array().unwrap().clone();
    let matched = rows(&json(&[&first, &renamed], &QUESTION));
    assert_eq!(matched.len(), 4);
    assert!(
        matched
            .iter()
            .all(|row| row["figures"].as_array().unwrap().len() == 2)
    );
    for (rows_of_table, seed) in [(200_000, 1), (100_000, 2)] {
        let mut other = plan(1, &[1], 2);
        other.dataset = Dataset::sbtest(1, rows_of_table, seed);
        let other = measured(&other);
        let unmatched = rows(&json(&[&first, &other], &QUESTION));
        assert_eq!(unmatched.len(), 8);
        assert!(
            unmatched
                .iter()
                .all(|row| row["figures"].as_array().unwrap().len() == 1)
        );
    }
}

#[test]
fn runs_without_a_common_build_stand_side_by_side() {
    let first = measured(&plan(1, &[1], 6));
    let mut other = plan(1, &[1], 6);
    other.targets[0].protocol = prony_model::Protocol::Text;
    let other = measured(&other);
    let json = json(&[&first, &other], &QUESTION);
    for figure in figures(&json)
        .into_iter()
        .filter(|f| f["way"] != "reference")
    {
        assert_eq!(figure["ratio"], Value::Null);
        let note = figure["notes"][0].as_str().unwrap();
        assert!(note.contains("protocol differs"), "{note}");
    }
}

#[test]
fn a_cost_is_compared_in_its_own_direction() {
    let sample = costs::complete();
    let question = Question {
        column: "target",
        metric: Metric::ServerCpu,
        ..QUESTION
    };
    let compared = json(&[&sample], &question);
    assert_eq!(compared["metric"], Metric::ServerCpu.facts().id);
    assert_eq!(compared["better"], "lower");
    let rows = compared["tables"][0]["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let number = |figure: &Value, key: &str| figure[key].as_f64().unwrap();
        let [reference, others @ ..] = row["figures"].as_array().unwrap().as_slice() else {
            panic!("a row without figures");
        };
        assert_eq!(reference["way"], "reference");
        for other in others {
            let quotient = number(other, "mean") / number(reference, "mean");
            assert!(
                (number(other, "ratio") / quotient - 1.0).abs() < 0.05,
                "{other}"
            );
            assert_ne!(other["sign"], "faster");
        }
    }
    let text = compare(&named(&[&sample]), &question, Format::Text).unwrap();
    assert!(text.contains("less is better"), "{text}");
    assert!(text.contains("above 1 is worse"), "{text}");
}

#[test]
fn wrong_questions_are_refused() {
    let run = measured(&plan(1, &[1], 1));
    let refused = |question: &Question<'_>| {
        compare(&named(&[&run]), question, Format::Text)
            .unwrap_err()
            .to_string()
    };
    let base = refused(&Question {
        base: Some("x"),
        ..QUESTION
    });
    assert!(base.contains("choose one of mysql-5.0"), "{base}");
    let filter = refused(&Question {
        filter: "steps:x",
        ..QUESTION
    });
    assert!(filter.contains("no key `steps`"), "{filter}");
}

#[test]
fn one_run() {
    let run = measured(&plan(3, &[1, 4], 6));
    let question = Question {
        column: "target",
        filter: "-target:mysql-5.7",
        ..QUESTION
    };
    let text = compare(&named(&[&run]), &question, Format::Text).unwrap();
    insta::assert_snapshot!("compare_one_run", text);
    let csv = compare(&named(&[&run]), &question, Format::Csv).unwrap();
    assert_eq!(csv.lines().count(), 1 + 16);
}

#[test]
fn two_runs() {
    let first = measured(&plan(2, &[1], 6));
    let mut later = plan(3, &[1], 6);
    later.steps[3].name = "whole-table".into();
    let later = measured(&later);
    let text = compare(&named(&[&first, &later]), &QUESTION, Format::Text).unwrap();
    insta::assert_snapshot!("compare_two_runs", text);
}

#[test]
fn values_stand_beside_ratios_and_long_names_of_runs_become_letters() {
    let first = measured(&plan(2, &[1], 6));
    let mut other = plan(2, &[1], 6);
    other.dataset = Dataset::sbtest(4, 1000, 1);
    let other = measured(&other);
    let runs = [
        ("first-of-november", &first),
        ("second-of-november", &other),
    ];
    let runs = runs.map(|(name, sample)| (Some(name.to_owned()), &sample.store));
    let question = Question {
        filter: "step:point-query",
        values: true,
        ..QUESTION
    };
    let text = compare(&runs, &question, Format::Text).unwrap();
    insta::assert_snapshot!("compare_two_datasets_with_values", text);
}
