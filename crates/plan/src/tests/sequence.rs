//! Sequences: phases, settling, lengths, presets, sections.

use prony_model::{Length, Phase, RatioDisplay, Settle, Step, Timing};

use super::messages::changed;
use super::{RIGHT, World, assert_says, golden};
use crate::{Invalid, Preset, embedded_workloads, parse_preset};

/// A preset with something of everything.
const PRESET: &str = r#"name = "study-2020"
description = "Reads before and after writes"
history = "For tests."
time = "100s"
warmup = "5s"
clients = [1, 2]

[[section]]
title = "Writes"
steps = ["update-index"]

[[section]]
title = "Reads"
steps = ["point-query.pre", "point-query"]

[[step]]
workload = "point-query"
name = "point-query.warm"
phase = "read-before"
warm_only = true
clients = "tables"
time = "50s"
warmup = "100ms"

[[step]]
settle = { idle = "60s", idle_per_million_rows = "1000s", limit = "10m" }

[[step]]
workload = "point-query"
name = "point-query.pre"
phase = "read-before"

[[step]]
workload = "update-index"
phase = "write"
time = "200s"

[[step]]
settle = {}

[[step]]
workload = "point-query"
phase = "read-after"
"#;

fn preset(text: &str) -> Preset {
    parse_preset("study-2020.toml", text, &embedded_workloads().unwrap()).unwrap()
}

fn world() -> World {
    let counted = PRESET
        .replace("study-2020", "counted-2014")
        .replace(r#"time = "100s""#, "operations_per_client = 1000")
        .replace("time = \"50s\"\n", "")
        .replace("time = \"200s\"\n", "");
    World {
        presets: vec![preset(PRESET), preset(&counted)],
        ..World::new()
    }
}

/// `RIGHT` with `[sequence]` in place of its own, without steps and clients of its own.
fn with_sequence(sequence: &str) -> String {
    let (start, _) = RIGHT.split_once("[sequence]").unwrap();
    let start = start.replace("clients = [1, 4]\n", "");
    format!("{start}[sequence]\n{sequence}\n")
}

/// The steps of `RIGHT` with other steps than its own.
fn own(steps: &str) -> Vec<Step> {
    let (start, _) = RIGHT.split_once("[[step]]").unwrap();
    let text = format!("{start}{steps}");
    World::new().parse(&text).unwrap().steps
}

fn names(steps: &[Step]) -> Vec<(usize, &str, u32)> {
    steps
        .iter()
        .map(|step| (step.entry, step.name.as_str(), step.own().clients))
        .collect()
}

const fn time(ms: u64) -> Length {
    Length::Time { ms }
}

const fn count(operations: u64) -> Length {
    Length::Count { operations }
}

#[test]
fn a_preset_at_its_own_scale() {
    let plan = world()
        .parse(&with_sequence(r#"preset = "study-2020""#))
        .unwrap();
    assert_eq!(plan.preset.as_deref(), Some("study-2020"));
    assert_eq!(
        names(&plan.steps),
        [
            (0, "point-query.warm", 2),
            (1, "point-query.pre", 1),
            (1, "point-query.pre", 2),
            (2, "update-index", 1),
            (2, "update-index", 2),
            (3, "point-query", 1),
            (3, "point-query", 2),
        ]
    );
    let of = |pick: fn(&Step) -> u64| plan.steps.iter().map(pick).collect::<Vec<_>>();
    assert_eq!(
        of(|step| step.warmup_ms),
        [100, 5000, 5000, 5000, 5000, 5000, 5000]
    );
    let lengths: Vec<_> = plan.steps.iter().map(|step| step.length).collect();
    let (read, write) = (time(100_000), time(200_000));
    assert_eq!(
        lengths,
        [time(50_000), read, read, write, write, read, read]
    );
    assert!(plan.steps[0].warm_only);
    assert!(plan.steps[1..].iter().all(|step| !step.warm_only));
    assert_eq!(plan.steps[0].phase, Some(Phase::ReadBefore));
    assert_eq!(plan.steps[6].phase, Some(Phase::ReadAfter));
    // 2 × 10,000 rows.
    let settles: Vec<_> = plan.steps.iter().map(|step| step.settle).collect();
    let first = Settle {
        idle_ms: 80_000,
        limit_ms: 600_000,
    };
    let second = Settle {
        idle_ms: 0,
        limit_ms: 1_200_000,
    };
    assert_eq!(
        settles,
        [None, Some(first), None, None, None, Some(second), None]
    );
    let sections: Vec<_> = plan
        .sections
        .iter()
        .map(|section| (section.title.as_str(), section.entries.as_slice()))
        .collect();
    assert_eq!(
        sections,
        [("Writes", [2].as_slice()), ("Reads", [1, 3].as_slice())]
    );
}

#[test]
fn the_time_of_the_experiment_scales_all_times_of_a_preset() {
    let text = with_sequence("preset = \"study-2020\"\ntime = \"1s\"");
    let steps = world().parse(&text).unwrap().steps;
    assert_eq!(
        [&steps[0], &steps[1], &steps[3]].map(|step| (step.warmup_ms, step.length)),
        [(100, time(500)), (200, time(1000)), (200, time(2000))]
    );
    // Idle times too; the limit is one of patience, and stays.
    let settle = Settle {
        idle_ms: 800,
        limit_ms: 600_000,
    };
    assert_eq!(steps[1].settle, Some(settle));
    let text = with_sequence("preset = \"study-2020\"\ntime = \"1s\"\nwarmup = \"700ms\"");
    let steps = world().parse(&text).unwrap().steps;
    assert_eq!([0, 1].map(|step| steps[step].warmup_ms), [100, 700]);
}

#[test]
fn idle_times_end_with_the_limit() {
    let text =
        with_sequence(r#"preset = "study-2020""#).replace("rows = 10_000", "rows = 1_000_000");
    let steps = world().parse(&text).unwrap().steps;
    let settle = Settle {
        idle_ms: 600_000,
        limit_ms: 600_000,
    };
    assert_eq!(steps[1].settle, Some(settle));
}

#[test]
fn writes_of_a_preset_can_be_counted() {
    let text = with_sequence("preset = \"study-2020\"\nwrite_operations = 5000");
    let steps = world().parse(&text).unwrap().steps;
    assert_eq!(steps[1].length, time(100_000));
    assert_eq!([3, 4].map(|step| steps[step].length), [count(5000); 2]);
}

/// Reads decide how long a transaction takes that has both.
#[test]
fn transactions_that_also_read_are_not_counted() {
    let mixed = PRESET.replace(
        r#"workload = "update-index""#,
        "workload = \"read-write\"\nname = \"update-index\"",
    );
    let world = World {
        presets: vec![preset(&mixed)],
        ..World::new()
    };
    let text = with_sequence("preset = \"study-2020\"\nwrite_operations = 5000");
    let step = &world.parse(&text).unwrap().steps[3];
    assert_eq!((step.length, step.warmup_ms), (time(200_000), 5000));
}

/// A warm-up would write as much on top as the server is fast.
#[test]
fn counted_changes_have_no_warmup_but_their_own() {
    let steps = own("[[step]]\nworkload = \"update-index\"\noperations = 100\n\
         [[step]]\nworkload = \"delete\"\noperations_per_client = 9\nwarmup = \"2s\"\n\
         [[step]]\nworkload = \"insert\"\n\
         [[step]]\nworkload = \"point-query\"\noperations = 100\n");
    assert_eq!(
        [0, 2, 4, 6].map(|step| steps[step].warmup_ms),
        [0, 2000, 500, 500]
    );
    let of = |sequence: &str| {
        let steps = world().parse(&with_sequence(sequence)).unwrap().steps;
        [1, 3].map(|step| steps[step].warmup_ms)
    };
    assert_eq!(of(r#"preset = "counted-2014""#), [5000, 0]);
    assert_eq!(of("preset = \"counted-2014\"\nwarmup = \"2s\""), [2000, 0]);
    let counted = "preset = \"study-2020\"\nwrite_operations = 50";
    assert_eq!(of(counted), [5000, 0]);
}

#[test]
fn every_client_has_something_to_do() {
    let refused = |text: &str, expected: &str| {
        assert_says(&world().parse(text).unwrap_err(), expected);
    };
    let own = changed(
        "workload = \"read-only\"\nparameters.range = 10\n",
        "workload = \"update-index\"\noperations = 3\n",
    );
    refused(
        &own,
        r#"`update-index` has fewer operations than clients: 3 for 4
           | workload = «"update-index"» some clients would do nothing
           | write at least 4, or `operations_per_client`, or fewer `clients`"#,
    );
    let all = changed(r#"time = "3s""#, "operations = 3");
    refused(
        &all,
        r#"× `point-query` has fewer operations than clients: 3 for 4
           | operations = «3» some clients would do nothing
           | workload = «"point-query"» this step has more clients
           | write at least 4, or `operations_per_client`, or fewer `clients`
           × `read-only.range10` has fewer operations than clients: 3 for 4
           | operations = «3» some clients would do nothing
           | workload = «"read-only"» this step has more clients
           | write at least 4, or `operations_per_client`, or fewer `clients`"#,
    );
    let writes = with_sequence("preset = \"study-2020\"\nwrite_operations = 1");
    refused(
        &writes,
        r#"`update-index` has fewer operations than clients: 1 for 2
           | preset = «"study-2020"» its step `update-index` has more clients
           | write_operations = «1» some clients would do nothing
           | write at least 2, or `operations_per_client`, or fewer `clients`"#,
    );
    let counted = PRESET.replace(r#"time = "200s""#, "operations = 1");
    let world = World {
        presets: vec![preset(&counted)],
        ..World::new()
    };
    let text = with_sequence(r#"preset = "study-2020""#);
    assert_says(
        &world.parse(&text).unwrap_err(),
        r#"`update-index` has fewer operations than clients: 1 for 2
           | preset = «"study-2020"» some clients would do nothing
           | write at least 2, or `operations_per_client`, or fewer `clients`"#,
    );
    // As many are enough.
    let text = changed(r#"time = "3s""#, "operations = 4");
    assert!(World::new().parse(&text).is_ok());
}

#[test]
fn counted_presets_can_count_less_or_run_for_a_time() {
    let lengths = |sequence: &str| {
        let text = with_sequence(&format!("preset = \"counted-2014\"\n{sequence}"));
        let steps = world().parse(&text).unwrap().steps;
        [1, 2].map(|step| steps[step].length)
    };
    assert_eq!(lengths(""), [count(1000), count(2000)]);
    assert_eq!(
        lengths("operations_per_client = 30"),
        [count(30), count(60)]
    );
    assert_eq!(lengths("operations = 30"), [count(30); 2]);
    assert_eq!(lengths(r#"time = "9s""#), [time(9000); 2]);
}

#[test]
fn the_clients_of_the_experiment_replace_those_of_a_preset() {
    let text = changed(
        "[sequence]\nwarmup = \"500ms\"\ntime = \"3s\"\n",
        "[sequence]\npreset = \"study-2020\"\n",
    );
    let (text, _) = text.split_once("[[step]]").unwrap();
    let steps = world().parse(text).unwrap().steps;
    assert_eq!(
        names(&steps)[..3],
        [
            (0, "point-query.warm", 2),
            (1, "point-query.pre", 1),
            (1, "point-query.pre", 4),
        ]
    );
}

#[test]
fn own_steps_have_the_same_words() {
    let steps = own(
        "[[step]]\nworkload = \"point-query\"\nname = \"warm\"\nwarm_only = true\n\
         phase = \"read-before\"\nclients = [3, \"tables\"]\n\
         [[step]]\nsettle = { idle = \"2s\", limit = \"30s\" }\n\
         [[step]]\nworkload = \"update-index\"\nphase = \"write\"\noperations_per_client = 50\n\
         [[step]]\nworkload = \"point-query\"\ntiming = \"whole-run\"\noperations = 100\n",
    );
    assert_eq!(
        names(&steps),
        [
            (0, "warm", 3),
            (0, "warm", 2),
            (1, "update-index", 1),
            (1, "update-index", 4),
            (2, "point-query", 1),
            (2, "point-query", 4),
        ]
    );
    let lengths: Vec<_> = steps.iter().map(|step| step.length).collect();
    assert_eq!(
        lengths,
        [
            time(3000),
            time(3000),
            count(50),
            count(200),
            count(100),
            count(100)
        ]
    );
    let settle = Settle {
        idle_ms: 2000,
        limit_ms: 30_000,
    };
    assert_eq!([2, 3].map(|step| steps[step].settle), [Some(settle), None]);
    // Connecting is timed, hence no warm-up, whatever the sequence says.
    assert_eq!((steps[4].timing, steps[4].warmup_ms), (Timing::WholeRun, 0));
    assert_eq!(steps[0].timing, Timing::Operations);
}

#[test]
fn timing_of_a_sequence_is_that_of_its_steps() {
    let text = with_sequence("preset = \"study-2020\"\ntiming = \"whole-run\"");
    let steps = world().parse(&text).unwrap().steps;
    assert!(
        steps
            .iter()
            .all(|step| step.timing == Timing::WholeRun && step.warmup_ms == 0)
    );
    let text = changed(
        r#"workload = "read-only""#,
        "workload = \"read-only\"\nwarmup = \"1s\"\ntiming = \"whole-run\"",
    );
    assert_says(
        &world().parse(&text).unwrap_err(),
        r#"a step whose whole run is timed has no warm-up
           | workload = «"read-only"» has one
           | remove `warmup`, or write `timing = "operations"`"#,
    );
    let text = changed(r#"time = "3s""#, "time = \"3s\"\ntiming = \"whole-run\"");
    assert_says(
        &world().parse(&text).unwrap_err(),
        r#"steps whose whole run is timed have no warm-up
           | warmup = «"500ms"» a warm-up
           | timing = «"whole-run"» the whole run
           | remove one of them; a step can have a `timing` of its own"#,
    );
    // None at all is no contradiction.
    let text = text.replace(r#""500ms""#, r#""0s""#);
    assert!(world().parse(&text).is_ok());
}

#[test]
fn writes_that_say_how_long_they_run_are_left_alone() {
    let (start, _) = RIGHT.split_once("[[step]]").unwrap();
    let start = start.replace("[sequence]", "[sequence]\nwrite_operations = 700");
    let text = format!(
        "{start}[[step]]\nworkload = \"update-index\"\n[[step]]\nworkload = \"insert\"\n\
         time = \"1s\"\n[[step]]\nworkload = \"point-query\"\n"
    );
    let steps = World::new().parse(&text).unwrap().steps;
    assert_eq!(
        [0, 2, 4].map(|step| steps[step].length),
        [count(700), time(1000), time(3000)]
    );
}

/// That of its section counts, else that at the top; a step has none of its own.
#[test]
fn sections_decide_how_ratios_are_shown() {
    let sections = "[[section]]\ntitle = \"Ranges\"\ndisplay = \"throughput\"\n\
                    steps = [\"read-only.range10\"]\n\
                    [[section]]\ntitle = \"Points\"\nsteps = [\"point-query\"]\n";
    let shown = |text: &str| -> Vec<RatioDisplay> {
        let plan = World::new().parse(text).unwrap();
        let steps = plan.steps.iter();
        steps.map(|step| plan.ratio_display(step)).collect()
    };
    let (rate, time) = (RatioDisplay::Throughput, RatioDisplay::Time);
    assert_eq!(shown(RIGHT), [rate; 4]);
    let all = changed("aa = false", "aa = false\ndisplay = \"time\"");
    assert_eq!(shown(&all), [time; 4]);
    let text = format!("{all}{sections}");
    assert_eq!(shown(&text), [time, time, rate, rate]);
    let wrong = changed("aa = false", "aa = false\ndisplay = \"transactions\"");
    assert_says(
        &World::new().parse(&wrong).unwrap_err(),
        r#"unknown display `transactions`
           | display = «"transactions"» no such display
           | known displays: throughput, time"#,
    );
}

#[test]
fn own_sections() {
    let text = RIGHT.replace(
        "[sequence]",
        "[[section]]\ntitle = \"Ranges\"\nsteps = [\"read-only.range10\"]\n\n\
         [[section]]\ntitle = \"Points\"\nsteps = [\"point-query\"]\n\n[sequence]",
    );
    let sections = World::new().parse(&text).unwrap().sections;
    let sections: Vec<_> = sections
        .iter()
        .map(|section| (section.title.as_str(), section.entries.as_slice()))
        .collect();
    assert_eq!(
        sections,
        [("Ranges", [1].as_slice()), ("Points", [0].as_slice())]
    );
}

/// Checks the message of `RIGHT` with another sequence.
#[track_caller]
fn check(sequence: &str, expected: &str) {
    let invalid = world().parse(&with_sequence(sequence)).unwrap_err();
    assert_says(&invalid, expected);
}

#[test]
fn wrong_presets_in_experiments() {
    check(
        r#"preset = "study-2021""#,
        r#"unknown preset `study-2021`
           | preset = «"study-2021"» no such preset
           | did you mean `study-2020`? known presets: study-2020, counted-2014"#,
    );
    check(
        "preset = \"study-2020\"\n\n[[step]]\nworkload = \"point-query\"",
        r#"a preset brings its own steps
           | preset = «"study-2020"» the preset
           | [[«step»]] more steps
           | remove one of the two; `prony sequences show` prints a preset in the form in which it
           can be copied into an experiment and changed"#,
    );
    check(
        "preset = \"study-2020\"\noperations_per_client = 1000",
        r#"the steps of `study-2020` run for a time, some for another than the rest
           | preset = «"study-2020"» the preset
           | operations_per_client = «1000» a number for all of them
           | write `time` to scale all of its times; `write_operations` gives a number of
           operations to the steps that write"#,
    );
    check(
        "preset = \"study-2020\"\ntime = \"1s\"\noperations_per_client = 1000",
        r#"a step ends after a `time` or after a number of `operations`, not both
           | time = «"1s"» this
           | operations_per_client = «1000» or this
           | remove one of them"#,
    );
}

#[test]
fn presets_that_the_dataset_is_too_small_for() {
    let text = PRESET.replace(
        r#"workload = "update-index""#,
        "workload = \"range-notcovered-pk\"\nname = \"update-index\"\nparameters.range = 10_000",
    );
    let world = World {
        presets: vec![preset(&text)],
        ..World::new()
    };
    let text = with_sequence(r#"preset = "study-2020""#);
    assert_says(
        &world.parse(&text).unwrap_err(),
        r#"`range-notcovered-pk` can't draw `low` from 1..rows - range: that is 1..0 at rows =
           10000, range = 10000
           | rows = «10_000» with 10000 rows
           | preset = «"study-2020"» its step `update-index` can't run
           | raise `rows`, or set other `parameters` in the step"#,
    );
}

/// The message about a preset with one place changed.
fn invalid_preset(from: &str, to: &str) -> Invalid {
    assert_eq!(PRESET.matches(from).count(), 1, "{from}");
    let text = PRESET.replacen(from, to, 1);
    let workloads = embedded_workloads().unwrap();
    parse_preset("study-2020.toml", &text, &workloads).unwrap_err()
}

#[track_caller]
fn check_preset(from: &str, to: &str, expected: &str) {
    assert_says(&invalid_preset(from, to), expected);
}

#[test]
fn wrong_steps() {
    check_preset(
        r#"phase = "read-after""#,
        "[[step]]\nsettle = {}",
        "no step that runs something follows after settling
         | «[[step]]» settles for no step
         | write the [[step]] that needs a quiet engine below it, or remove it",
    );
    check_preset(
        "settle = {}",
        "settle = {}\nworkload = \"scan\"",
        r#"a step runs a `workload` or is a place to `settle`, not both
           | «workload» = "scan" runs something
           | write `settle` in a [[step]] of its own, in front of this one"#,
    );
    check_preset(
        r#"idle = "60s""#,
        r#"idel = "60s""#,
        r#"unknown key `idel`
           | settle = { «idel» = "60s", idle_per_million_rows = "1000s", limit = "10m" } settling
           has no such key
           | did you mean `idle`? known keys: idle, idle_per_million_rows, limit"#,
    );
    check_preset(
        r#""write""#,
        r#""writes""#,
        r#"unknown phase `writes`
           | phase = «"writes"» no such phase
           | did you mean `write`? known phases: read-before, write, read-after, end"#,
    );
    check_preset(
        r#""tables""#,
        r#""rows""#,
        r#"`rows` is not a number of clients
           | clients = «"rows"» not a number
           | write whole numbers, or "tables" for as many as the dataset has tables"#,
    );
    check_preset(
        r#"time = "100s""#,
        "",
        r#"a preset needs `time` or `operations_per_client`
           | «»name = "study-2020" experiments would have nothing to scale
           | write it at the top: it applies to all steps that set none themselves"#,
    );
    check_preset(
        r#"history = "For tests.""#,
        "",
        r#"a preset needs `history` | «»name = "study-2020" `history` is missing"#,
    );
}

#[test]
fn wrong_sections() {
    check_preset(
        r#"["update-index"]"#,
        r#"["update-indexes"]"#,
        r#"unknown step `update-indexes`
           | steps = [«"update-indexes"»] no such step
           | did you mean `update-index`? known steps: point-query.warm, point-query.pre,
           update-index, point-query"#,
    );
    let twice = invalid_preset(r#"["update-index"]"#, r#"["update-index", "point-query"]"#);
    golden("section-step-twice", &twice);
    check_preset(
        r#"["point-query.pre", "point-query"]"#,
        r#"["point-query"]"#,
        r#"the step `point-query.pre` is in no section
           | name = «"point-query.pre"» not in any `steps`
           | name it in the `steps` of a [[section]], or write no sections at all"#,
    );
}
