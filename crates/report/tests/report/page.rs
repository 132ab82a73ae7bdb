//! The page of a run as a file: its figures, its safety, and odd runs.

use prony_model::{Phase, Plan, Section};
use prony_report::{Extent, Format, Screen, render, render_extent};
use prony_store::{DefinitionFile, DefinitionKind, Subject};
use prony_testkit::planned;
use serde_json::Value;

use crate::costs::{counting, run_sampled};
use crate::sample::{Sample, at, plan};

/// A complete run with costs, two numbers of clients and a campaign's worth of blocks.
pub(crate) fn full(targets: usize, clients: &[u32], blocks: u32) -> Sample {
    let mut sample = Sample::new(&plan(targets, clients, blocks));
    run_sampled(&mut sample, |_, _, _| {});
    sample
}

fn page(sample: &Sample) -> String {
    render(&sample.store, Format::Html).unwrap()
}

/// Everything between the policy and the script, without style and glossary.
fn main_part(page: &str) -> &str {
    let from = page.find("<main>").unwrap();
    &page[from..page.find("</main>").unwrap()]
}

#[test]
fn complete_run_as_page() {
    let mut sample = Sample::new(&plan(2, &[1], 2));
    run_sampled(&mut sample, |_, _, _| {});
    // One tag in a line, so that a change shows where it is.
    let lines = main_part(&page(&sample)).replace("><", ">\n<");
    insta::assert_snapshot!(lines);
}

#[test]
fn the_users_files_are_on_the_page_whole() {
    let mut sample = Sample::new(&plan(2, &[1], 2));
    let lacking = page(&sample);
    assert!(lacking.contains("does not have the text of its experiment"));
    let file = |kind, name: &str, text: &str| DefinitionFile {
        kind,
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file(
            DefinitionKind::Experiment,
            "mine.toml",
            "# <b>\nname = \"x\"\n\n[dataset]\n",
        ),
        file(
            DefinitionKind::Workloads,
            "own.toml",
            "[[workload]]\nname = \"own\"\n",
        ),
    ];
    sample.store.record_definitions(&files).unwrap();
    let page = page(&sample);
    let reproduce = &page[page.find("How to reproduce this run</h2>").unwrap()..];
    assert!(reproduce.contains("prony run mine.toml --workloads own.toml\n"));
    for text in [
        "# &lt;b&gt;\nname = &quot;x&quot;\n\n[dataset]",
        "name = &quot;own&quot;",
    ] {
        let before = &reproduce[..reproduce.find(text).unwrap()];
        assert!(before.rfind("<details>") > before.rfind("</details>"));
    }
    let text = render(&sample.store, Format::Text).unwrap();
    assert!(text.contains("Experiment file mine.toml"), "{text}");
    assert!(text.contains("  name = \"x\"\n"), "{text}");
}

#[test]
fn builds_that_were_left_out_are_named() {
    let mut plan = plan(2, &[1], 2);
    plan.left_out = vec!["mysql-5.1.72".to_owned(), "mine".to_owned()];
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    let fact = "mysql-5.1.72 and mine, not on the machine when the run began";
    for (format, extent) in [
        (Format::Text, Extent::Answer),
        (Format::Text, Extent::Whole),
        (Format::Html, Extent::Whole),
    ] {
        let text = render_extent(&sample.store, format, &extent, None, Screen::default()).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(fact), "{text}");
    }
}

#[test]
fn equal_runs_have_equal_pages() {
    assert_eq!(page(&full(3, &[1, 4], 5)), page(&full(3, &[1, 4], 5)));
}

/// A figure of the page that names its cell.
struct Named<'a> {
    key: &'a str,
    value: f64,
    text: &'a str,
}

/// The figures of a page that name their cell.
fn named(page: &str) -> Vec<Named<'_>> {
    let figures = page.split("<data value=\"").skip(1);
    let named = figures.filter_map(|rest| {
        let (value, rest) = rest.split_once('"')?;
        let (attributes, rest) = rest.split_once('>')?;
        let key = attributes.strip_prefix(" data-k=\"")?.strip_suffix('"')?;
        let (text, _) = rest.split_once("</data>")?;
        let value = value.parse().unwrap();
        Some(Named { key, value, text })
    });
    named.collect()
}

/// The figure of the JSON report that a key of the page names: `s3t1.ratio`, or `s3g1t1.ratio` for a
/// group beside the step's own clients.
fn in_json(json: &Value, key: &str) -> f64 {
    let (place, what) = key.split_once('.').unwrap();
    let (steps, target) = place[1..].split_once('t').unwrap();
    let (step, group) = steps.split_once('g').unwrap_or((steps, "0"));
    let number = |text: &str| text.parse::<usize>().unwrap();
    let of_target =
        json["cells"].as_array().unwrap().len() / json["targets"].as_array().unwrap().len();
    let cell = &json["cells"][number(target) * of_target + number(step)];
    let cell = match number(group) {
        0 => cell,
        position => &cell["beside"][position - 1],
    };
    let found = match what {
        "ratio" => &cell["ratio"]["ratio"],
        "low" | "high" => &cell["ratio"][what],
        "cost" => &cell["costs"]["metrics"]["server_cpu_us"]["ratio"]["ratio"],
        _ => match cell["display"].as_str().unwrap() {
            "rate" => &cell["queries_per_second"]["mean"],
            "transactions" => &cell["operations_per_second"]["mean"],
            _ => &cell["milliseconds_per_operation"]["mean"],
        },
    };
    let found = found.as_f64();
    assert!(found.is_some(), "{key}");
    found.unwrap()
}

#[test]
fn figures_are_those_of_json() {
    let sample = full(3, &[1, 4], 5);
    let (page, markdown) = (
        page(&sample),
        render(&sample.store, Format::Markdown).unwrap(),
    );
    let json: Value = serde_json::from_str(&render(&sample.store, Format::Json).unwrap()).unwrap();
    let figures = named(&page);
    // Map and rows: ratios twice, bounds, means twice, costs.
    assert!(figures.len() > 8 * 2 * (2 + 2 + 2), "{}", figures.len());
    for figure in &figures {
        let wanted = in_json(&json, figure.key);
        assert!((figure.value - wanted).abs() < 1e-9, "{}", figure.key);
    }
    // Rows have the digits of the other reports, with the interval.
    for figure in &figures {
        let Some((begin, "low")) = figure.key.split_once('.') else {
            continue;
        };
        let text = |what: &str| {
            let key = format!("{begin}.{what}");
            figures
                .iter()
                .rev()
                .find(|figure| figure.key == key)
                .unwrap()
                .text
        };
        let shown = format!("{} [{}, {}]", text("ratio"), text("low"), text("high"));
        assert!(markdown.contains(&shown), "{shown}");
    }
}

#[test]
fn no_figure_is_nonsense() {
    for sample in odd() {
        let page = page(&sample);
        let text = main_part(&page);
        for word in ["NaN", ">inf", "\"inf", "undefined", "-inf"] {
            assert!(!text.contains(word), "{word}");
        }
        assert!(page.ends_with("</html>\n") && page.starts_with("<!DOCTYPE html>"));
        let tags = |tag: &str| text.matches(tag).count();
        for tag in ["table", "section", "details", "svg", "article", "td", "bdi"] {
            let open = tags(&format!("<{tag}>")) + tags(&format!("<{tag} "));
            assert_eq!(open, tags(&format!("</{tag}>")), "{tag}");
        }
    }
}

/// Runs that are not as they should be.
pub(crate) fn odd() -> Vec<Sample> {
    let nothing = Sample::new(&plan(3, &[1], 3));
    let mut first_block = Sample::new(&plan(3, &[1], 3));
    first_block.run(|trial| trial == planned(0, 0));
    let mut failed = Sample::new(&plan(3, &[1], 2));
    for target in 0..3 {
        let trial = failed.begin(planned(0, target));
        let tail = "mysqld got signal 11 ;\n<that> could help\u{1b}[0m\0";
        failed
            .store
            .fail_trial(trial, "it ended", tail, at(1))
            .unwrap();
    }
    let mut idle = Sample::new(&plan(2, &[1], 2));
    for planned in idle.store.missing_trials().unwrap() {
        let trial = idle.begin(planned);
        idle.record_steps(trial, planned, |_, outcome| {
            let own = outcome.groups.own_mut();
            (own.operations, own.queries, own.busy_ns) = (0, 0, 0);
            own.histogram = prony_testkit::histogram(&[]);
        });
        idle.store.finish_trial(trial, at(60)).unwrap();
    }
    let mut counted = Sample::new(&counting(plan(2, &[1], 2)));
    run_sampled(&mut counted, |_, _, _| {});
    vec![
        nothing,
        first_block,
        failed,
        idle,
        counted,
        full(1, &[1], 2),
        full(2, &[1], 1),
        full(40, &[1], 1),
        many_steps(),
        far_apart(),
    ]
}

/// 300 steps.
fn many_steps() -> Sample {
    let mut plan = plan(2, &[1], 2);
    let steps = plan.steps.clone();
    plan.steps = (0..300)
        .map(|index| {
            let mut step = steps[index % steps.len()].clone();
            step.name = format!("{}.{index}", step.name);
            step.entry = index;
            step
        })
        .collect();
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    sample
}

/// One target a thousand times slower, another a thousand times faster.
fn far_apart() -> Sample {
    let mut sample = Sample::new(&plan(3, &[1], 2));
    for planned in sample.store.missing_trials().unwrap() {
        let trial = sample.begin(planned);
        sample.record_steps(trial, planned, |_, outcome| {
            let own = outcome.groups.own_mut();
            own.operations = 1_000_000;
            own.queries = 1_000_000;
            own.busy_ns = [5_000_000_000, 5_000_000_000_000, 5_000_000][planned.target];
        });
        sample.store.finish_trial(trial, at(60)).unwrap();
    }
    sample
}

/// A run whose texts are all `text`, where texts may be anything.
pub(crate) fn named_so(text: &str) -> Sample {
    let mut plan: Plan = plan(2, &[1], 2);
    plan.question = text.into();
    plan.sections = vec![Section {
        title: text.to_owned(),
        entries: vec![0, 1],
        display: None,
    }];
    plan.steps[2].phase = Some(Phase::Write);
    plan.targets[1].name = format!("x{text}");
    plan.targets[1]
        .config
        .raw
        .insert("init".into(), text.to_owned());
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    let warning = sample.store.record_warning(Subject::Run, "code", text);
    warning.unwrap();
    sample
}

/// A text as HTML shows it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[test]
fn markup_in_names_is_shown() {
    let text =
        "</script><script>alert('1')</script> ]]> \"&amp; \u{202e}abc שלום e\u{301}🦀 --> <b>";
    let page = page(&named_so(text));
    assert!(page.contains(&escaped(text)));
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("<b>&lt;") && !page.contains("alert('1')</script>"));
}

#[test]
fn only_the_own_script_may_run() {
    let page = page(&full(2, &[1], 2));
    let policy = page
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    for word in ["src=\"", "http://", "https://", "@import", " on"] {
        let uses = page.matches(word).count();
        // The glossary and the answers of servers are text.
        assert!(uses == 0 || word == " on", "{word}");
    }
    assert!(page.len() < 400_000, "{}", page.len());
}
