//! Ratios as ratios of time, what the ratios of a section say together, and notes below graphs.

use prony_model::{Phase, Plan, RatioDisplay};
use prony_report::{Extent, Format, Screen, render, render_extent};
use serde_json::Value;

use crate::golden::shown;
use crate::paces::{calibration, paced_of, paced_plan};
use crate::sample::{Sample, at, plan};
use crate::verdicts::{complete, flowing, four_ways, noise};

const TIME: Option<RatioDisplay> = Some(RatioDisplay::Time);

fn of_time(mut plan: Plan) -> Plan {
    plan.display = RatioDisplay::Time;
    plan
}

fn asked(sample: &Sample, format: Format, extent: &Extent) -> String {
    render_extent(&sample.store, format, extent, TIME, Screen::default()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn ratios_of_time_as_text() {
    let sample = complete(&of_time(plan(3, &[1], 5)), &four_ways);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}

#[test]
fn the_answer_has_ratios_of_time() {
    let sample = complete(&plan(2, &[1], 5), &four_ways);
    insta::assert_snapshot!(asked(&sample, Format::Text, &Extent::Answer));
}

/// Response times where operations have an intended start.
#[test]
fn paced_times_as_markdown() {
    let sample = paced_of(&of_time(paced_plan()));
    insta::assert_snapshot!(shown(&sample, Format::Markdown));
}

/// A reader asks for what the experiment could have asked for.
#[test]
fn the_reader_decides_last() {
    let of_plan = |display| {
        let mut plan = plan(3, &[1, 4], 5);
        plan.display = display;
        complete(&plan, &|planned, step| four_ways(planned, step % 4))
    };
    let [rates, times] = [RatioDisplay::Throughput, RatioDisplay::Time].map(of_plan);
    for format in [Format::Text, Format::Markdown, Format::Html, Format::Json] {
        let planned = render(&times.store, format).unwrap();
        assert_eq!(asked(&rates, format, &Extent::Whole), planned, "{format:?}");
        let back = Some(RatioDisplay::Throughput);
        let back = render_extent(
            &times.store,
            format,
            &Extent::Whole,
            back,
            Screen::default(),
        );
        assert_eq!(back.unwrap(), render(&rates.store, format).unwrap());
    }
}

/// Both kinds of ratio are in the data whatever people are shown, and verdicts are the same.
#[test]
fn data_has_both_ratios() {
    let sample = complete(&plan(2, &[1], 5), &four_ways);
    let report = json(&render(&sample.store, Format::Json).unwrap());
    let mut of_time = json(&asked(&sample, Format::Json, &Extent::Whole));
    let mut found = 0;
    for cell in report["cells"].as_array().unwrap() {
        let number = |kind: &str, key: &str| cell[kind][key].as_f64();
        let Some(ratio) = number("ratio", "ratio") else {
            continue;
        };
        found += 1;
        assert_eq!(cell["ratio_display"], "throughput");
        assert!((ratio * number("time_ratio", "ratio").unwrap() - 1.0).abs() < 1e-5);
        let (low, high) = (number("ratio", "low"), number("time_ratio", "high"));
        assert!((low.unwrap() * high.unwrap() - 1.0).abs() < 1e-5);
    }
    assert_eq!(found, 4);
    assert_eq!(report["verdicts"], of_time["verdicts"]);
    assert_eq!(report["overall"], of_time["overall"]);
    for cell in of_time["cells"].as_array_mut().unwrap() {
        assert_eq!(cell["ratio_display"], "time");
        cell["ratio_display"] = "throughput".into();
    }
    assert_eq!(report["cells"], of_time["cells"]);
    let csv = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let rows = csv(&render(&sample.store, Format::Csv).unwrap());
    assert_eq!(rows, csv(&asked(&sample, Format::Csv, &Extent::Whole)));
    let names: Vec<&str> = rows[0].split(',').collect();
    let last: Vec<&str> = rows[rows.len() - 1].split(',').collect();
    let field = |name: &str| last[names.iter().position(|known| *known == name).unwrap()];
    let number = |name: &str| field(name).parse::<f64>().unwrap();
    let product = number("time_ratio") * number("ratio.operations_per_second");
    assert!((product - 1.0).abs() < 1e-5);
    assert!((number("section_time_ratio") * number("section_ratio") - 1.0).abs() < 1e-5);
    assert_eq!(field("section_lowest"), "point-query");
    assert_eq!(field("section_highest"), "update-index");
}

/// The page names figures of time otherwise, colours them by what they mean, and has no other ratios.
#[test]
fn the_page_tells_time_from_throughput() {
    let sample = complete(&plan(2, &[1], 5), &four_ways);
    let page = asked(&sample, Format::Html, &Extent::Whole);
    for part in ["s0t1.time_ratio\"", "s0t1.time_low\"", "above 1 is slower"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("s0t1.ratio\"") && !page.contains("relative throughput"));
    let rates = render(&sample.store, Format::Html).unwrap();
    assert!(!rates.contains("time_ratio") && !rates.contains("ratio of time"));
    // The same classes of colour in the same order.
    let classes = |page: &str| -> Vec<String> {
        let figures = page.split("class=\"fig rel ").skip(1);
        figures
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(classes(&page), classes(&rates));
    assert!(
        classes(&page).contains(&"s3".to_owned()),
        "{:?}",
        classes(&page)
    );
}

/// Parts in both forms: rows of tables over several parts say which is which.
#[test]
fn parts_have_forms_of_their_own() {
    let mut plan = plan(2, &[1], 5);
    for (step, phase) in plan.steps.iter_mut().zip([
        Phase::ReadBefore,
        Phase::ReadBefore,
        Phase::Write,
        Phase::Write,
    ]) {
        step.phase = Some(phase);
    }
    let section = |title: &str, entries: &[usize], display| prony_model::Section {
        title: title.into(),
        entries: entries.to_vec(),
        display,
    };
    plan.sections = vec![
        section("Reads", &[0, 1], TIME),
        section("Writes", &[2, 3], None),
    ];
    let sample = complete(&plan, &four_ways);
    insta::assert_snapshot!(shown(&sample, Format::Text));
    let answer = render_extent(
        &sample.store,
        Format::Text,
        &Extent::Answer,
        None,
        Screen::default(),
    );
    let answer = flowing(&answer.unwrap());
    assert!(answer.contains("point-query: time "), "{answer}");
    assert!(answer.contains("all of Reads: time "), "{answer}");
    assert!(
        answer.contains("In rows `time`: time of an operation"),
        "{answer}"
    );
    let page = render(&sample.store, Format::Html).unwrap();
    for part in [
        "s0t1.time_ratio\"",
        "s2t1.ratio\"",
        "relative throughput or time",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// The mean is that of the blocks' means, and the steps are those of the ratios above it.
#[test]
fn sections_are_summed_up_by_number_of_clients() {
    let sample = complete(&plan(2, &[1, 4], 5), &|planned, step| {
        four_ways(planned, step % 4) * if step < 4 { 1.0 } else { 1.1 }
    });
    let report = json(&render(&sample.store, Format::Json).unwrap());
    let summaries = report["section_summaries"].as_array().unwrap();
    assert_eq!(summaries.len(), 2);
    for (summary, clients) in summaries.iter().zip([1, 4]) {
        assert_eq!(
            (&summary["clients"], &summary["steps"]),
            (&clients.into(), &4.into())
        );
        let cells = report["cells"].as_array().unwrap().iter();
        let ratios = cells.filter(|cell| cell["clients"] == clients);
        let ratios: Vec<f64> = ratios
            .filter_map(|cell| cell["ratio"]["ratio"].as_f64())
            .collect();
        let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / 4.0;
        let shown = summary["ratio"]["ratio"].as_f64().unwrap();
        assert!((shown - mean.exp()).abs() < 1e-5, "{shown}");
        let lowest = ratios.iter().copied().fold(f64::MAX, f64::min);
        assert_eq!(summary["lowest"]["ratio"], lowest);
        assert_eq!(summary["lowest"]["step"], "point-query");
        assert_eq!(summary["highest"]["step"], "update-index");
        assert_eq!(summary["highest_time"]["step"], "point-query");
    }
    let text = render(&sample.store, Format::Text).unwrap();
    assert_eq!(text.matches("\n geometric mean ").count(), 2, "{text}");
}

/// The second target is behind at 1 client, alike at 4 and ahead at 8.
fn crossing(calibrated: bool) -> String {
    let mut sample = complete(&plan(2, &[1, 4, 8], 5), &|planned, step| {
        let slower = [1.2, 1.0, 0.8][step / 4];
        let noise = 1.0 + noise(planned.block) / 4.0;
        if planned.target == 0 { noise } else { slower }
    });
    if calibrated {
        let stored = sample.store.record_calibration(&calibration(), at(1));
        stored.unwrap();
    }
    render(&sample.store, Format::Html).unwrap()
}

#[test]
fn graphs_over_clients_name_ceiling_and_crossings() {
    let page = crossing(true);
    let ceiling = "<li>Ceiling of the load generator (prepared point query): 150,000 queries/s at 8 \
                   clients; dotted.</li>";
    assert_eq!(page.matches(ceiling).count(), 4, "{page}");
    assert_eq!(page.matches("class=\"limit\"").count(), 4);
    let crossing = "<li>mysql-5.0, then mysql-5.7: throughput of mysql-5.7 ÷ mysql-5.0 is 0.83";
    assert_eq!(page.matches(crossing).count(), 4, "{page}");
    assert!(page.contains(" at 1 client and 1.250 [") && page.contains("] at 8 clients.</li>"));
    let unknown = self::crossing(false);
    assert!(!unknown.contains("Ceiling of") && !unknown.contains("class=\"limit\""));
    assert!(unknown.contains(crossing));
}

/// One far above the lines would make them flat; one that a step exceeded is none.
#[test]
fn ceilings_that_say_little_are_not_drawn() {
    for (queries, words) in [
        (900_000_000, "; not drawn"),
        (20_000, "(struck: a step reached more, 80,000); not drawn"),
    ] {
        let mut sample = complete(&plan(1, &[4, 8], 2), &|_, _| 1.0);
        let mut known = calibration();
        known.closed[0].counts.queries = queries;
        sample.store.record_calibration(&known, at(1)).unwrap();
        let page = render(&sample.store, Format::Html).unwrap();
        assert!(
            page.contains(words) && !page.contains("class=\"limit\""),
            "{page}"
        );
    }
}
