//! What servers are set to: the report of its own, and the sections of a run's report.

use std::collections::BTreeMap;

use prony_model::{
    Address, Baseline, Engine, External, IntentValue, OptionOrigin, PasswordSource, RenderedOption,
    Tls, Transport,
};
use prony_report::{EffectiveTarget, Format, effective_settings, render};
use prony_testkit::planned;

use crate::golden::shown;
use crate::sample::{Sample, at, plan};

/// The variables of a made-up server of a real kind.
fn variables(version: &str, own: &[(&str, &str)]) -> BTreeMap<String, String> {
    let common = [
        ("version", version),
        ("innodb_buffer_pool_size", "536870912"),
        ("log_bin", "OFF"),
        ("sort_buffer_size", "262144"),
        ("max_connections", "111"),
    ];
    common
        .iter()
        .chain(own)
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn options(own: &[(&str, OptionOrigin, Option<&str>)]) -> Vec<RenderedOption> {
    let common = [
        (
            "innodb_buffer_pool_size=536870912",
            OptionOrigin::Intent,
            Some("buffer_pool"),
        ),
        ("max_connections=111", OptionOrigin::Baseline, None),
    ];
    common
        .iter()
        .chain(own)
        .map(|&(text, origin, intent)| RenderedOption::new(text, origin, intent, ""))
        .collect()
}

fn target(
    name: &str,
    options: Vec<RenderedOption>,
    variables: BTreeMap<String, String>,
) -> EffectiveTarget {
    EffectiveTarget {
        name: name.into(),
        engine: Engine::Innodb,
        external: false,
        baseline: Baseline::Common,
        intents: BTreeMap::from([("buffer_pool".into(), IntentValue::Bytes(512 << 20))]),
        options,
        variables,
    }
}

const REDO_FILES: [(&str, OptionOrigin, Option<&str>); 2] = [
    (
        "innodb_log_file_size=50331648",
        OptionOrigin::Baseline,
        Some("redo_log"),
    ),
    (
        "innodb_log_files_in_group=2",
        OptionOrigin::Baseline,
        Some("redo_log"),
    ),
];

/// A server that lowered what it was told.
fn mysql_50() -> EffectiveTarget {
    let [size, files] = REDO_FILES;
    let own = [
        ("innodb_log_file_size", "50331648"),
        ("innodb_log_files_in_group", "2"),
        ("long_query_time", "10"),
        ("table_cache", "431"),
        ("prony.allocator", "libc"),
    ];
    let cache = ("table_cache=2000", OptionOrigin::Baseline, None);
    target(
        "mysql-5.0",
        options(&[size, files, cache]),
        variables("5.0.21-log", &own),
    )
}

fn mysql_57() -> EffectiveTarget {
    let [size, files] = REDO_FILES;
    let own = [
        ("innodb_log_file_size", "50331648"),
        ("innodb_log_files_in_group", "2"),
        ("innodb_io_capacity", "200"),
        ("performance_schema", "OFF"),
        ("eq_range_index_dive_limit", "0"),
        ("long_query_time", "10.000000"),
        ("optimizer_switch", "mrr=on"),
        ("table_open_cache", "2000"),
        ("wait_timeout", "600"),
        ("prony.allocator", "libc"),
    ];
    let cache = ("table_open_cache=2000", OptionOrigin::Baseline, None);
    target(
        "mysql-5.7",
        options(&[size, files, cache]),
        variables("5.7.22-log", &own),
    )
}

/// A server with an intent of its own and raw options.
fn mysql_97() -> EffectiveTarget {
    let instrumented = Some("performance_schema");
    let options = options(&[
        (
            "innodb_redo_log_capacity=100663296",
            OptionOrigin::Baseline,
            Some("redo_log"),
        ),
        ("performance_schema=ON", OptionOrigin::Intent, instrumented),
        ("eq_range_index_dive_limit=200", OptionOrigin::Raw, None),
        ("long_query_time=5", OptionOrigin::Raw, None),
    ]);
    let own = [
        ("innodb_redo_log_capacity", "100663296"),
        ("innodb_io_capacity", "10000"),
        ("performance_schema", "ON"),
        ("eq_range_index_dive_limit", "200"),
        ("long_query_time", "5.000000"),
        ("optimizer_switch", "mrr=on,hash_join=on"),
        ("table_open_cache", "2000"),
        ("wait_timeout", "28800"),
        ("prony.allocator", "tcmalloc"),
    ];
    let mut target = target("mysql-9.7", options, variables("9.7.4", &own));
    let on = IntentValue::Flag(true);
    target.intents.insert("performance_schema".into(), on);
    target
}

/// Three versions with a difference of every kind.
fn three() -> Vec<EffectiveTarget> {
    vec![mysql_50(), mysql_57(), mysql_97()]
}

fn report(targets: &[EffectiveTarget], format: Format) -> String {
    let allow = ["innodb_io_capacity".to_owned()];
    let report = effective_settings(targets, &allow, format).unwrap();
    assert!(report.ends_with('\n') && !report.ends_with("\n\n"));
    if format == Format::Text {
        assert!(
            report.lines().all(|line| line.chars().count() <= 100),
            "{report}"
        );
    }
    report
}

#[test]
fn settings_as_text() {
    insta::assert_snapshot!(report(&three(), Format::Text));
}

#[test]
fn settings_as_markdown() {
    insta::assert_snapshot!(report(&three(), Format::Markdown));
}

#[test]
fn settings_as_csv() {
    insta::assert_snapshot!(report(&three(), Format::Csv));
}

#[test]
fn settings_as_json() {
    insta::assert_snapshot!(report(&three()[1..], Format::Json));
}

#[test]
fn settings_of_many_targets_as_text() {
    let mut targets = three();
    for number in 0..7 {
        let mut more = targets[1].clone();
        more.name = format!("mysql-8.0.{number}");
        targets.push(more);
    }
    insta::assert_snapshot!(report(&targets, Format::Text));
}

#[test]
fn settings_of_one_target_as_text() {
    insta::assert_snapshot!(report(&three()[..1], Format::Text));
}

/// What five lineages and two others really answered, under the common baseline.
#[test]
fn real_servers_fit_a_screen() {
    let builds = [
        (
            "mysql-5.0.21",
            include_str!("../../../equality/tests/data/mysql-5.0.21.tsv"),
        ),
        (
            "mysql-5.5.34",
            include_str!("../../../equality/tests/data/mysql-5.5.34.tsv"),
        ),
        (
            "mysql-5.6.24",
            include_str!("../../../equality/tests/data/mysql-5.6.24.tsv"),
        ),
        (
            "mysql-5.7.22",
            include_str!("../../../equality/tests/data/mysql-5.7.22.tsv"),
        ),
        (
            "mysql-8.0.31",
            include_str!("../../../equality/tests/data/mysql-8.0.31.tsv"),
        ),
        (
            "mysql-9.7",
            include_str!("../../../equality/tests/data/mysql-9.7.tsv"),
        ),
        (
            "mariadb-10.11",
            include_str!("../../../equality/tests/data/mariadb-10.11.tsv"),
        ),
    ];
    let targets: Vec<EffectiveTarget> = builds
        .iter()
        .map(|(name, text)| {
            let pairs = text.lines().filter_map(|line| line.split_once('\t'));
            EffectiveTarget {
                name: (*name).to_owned(),
                engine: Engine::Innodb,
                external: false,
                baseline: Baseline::Common,
                intents: BTreeMap::new(),
                options: Vec::new(),
                variables: pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
            }
        })
        .collect();
    let text = report(&targets, Format::Text);
    assert!(text.lines().count() < 150, "{text}");
}

/// A run of the three, with execution plans.
fn run() -> Sample {
    let mut plan = plan(3, &[1], 1);
    plan.allow = vec![
        "innodb_io_capacity".into(),
        "eq_range_index_dive_limit".into(),
    ];
    let three = three();
    for (target, effective) in plan.targets.iter_mut().zip(&three) {
        target.config.intents.clone_from(&effective.intents);
    }
    let mut sample = Sample::new(&plan);
    for (index, effective) in three.iter().enumerate() {
        sample
            .store
            .record_options(index, &effective.options)
            .unwrap();
        let trial = sample.begin(planned(0, index));
        let variables: Vec<(String, String)> = effective.variables.clone().into_iter().collect();
        sample.store.record_variables(trial, &variables).unwrap();
        sample.record_steps(trial, planned(0, index), |_, _| {});
        sample.store.finish_trial(trial, at(60)).unwrap();
        let same = r#"[{"table": "t1", "type": "const", "key": "PRIMARY", "key_len": "4",
            "ref": "const", "rows": "1", "Extra": null}]"#;
        let extra = if index == 2 {
            "Using index condition"
        } else {
            "Using where"
        };
        let range = format!(
            r#"[{{"table": "t1", "type": "range", "key": "k_1", "key_len": "4", "ref": null,
                "rows": "{index}", "Extra": "{extra}; Using filesort"}}]"#
        );
        sample
            .store
            .record_plan_text(index, 0, "select", same)
            .unwrap();
        sample
            .store
            .record_plan_text(index, 1, "distinct", &range)
            .unwrap();
        if index > 0 {
            sample
                .store
                .record_plan_text(index, 2, "update", same)
                .unwrap();
        }
    }
    sample
}

#[test]
fn run_with_settings_as_text() {
    insta::assert_snapshot!(shown(&run(), Format::Text));
}

#[test]
fn run_with_settings_as_json() {
    insta::assert_snapshot!(shown(&run(), Format::Json));
}

#[test]
fn damaged_execution_plans_are_named() {
    let mut sample = Sample::new(&plan(2, &[1], 1));
    sample
        .store
        .record_plan_text(1, 0, "select", "nonsense")
        .unwrap();
    let error = render(&sample.store, Format::Text).unwrap_err().to_string();
    assert!(error.contains("target mysql-5.7 for `select`"), "{error}");
}

/// Beside a server of an old version, one that ran already, over TCP and encrypted.
#[test]
fn external_server_as_text() {
    let mut plan = plan(2, &[1], 1);
    let external = &mut plan.targets[1];
    external.name = "theirs".into();
    external.build.id = "external".into();
    external.config.intents.clear();
    external.transport = Transport::Tcp;
    external.external = Some(External {
        address: Address::Tcp("127.0.0.1:3306".parse().unwrap()),
        user: "bench".into(),
        password: PasswordSource::None,
        database: "prony".into(),
        tls: Tls::Required,
    });
    let mut sample = Sample::new(&plan);
    sample.run(|_| true);
    insta::assert_snapshot!(shown(&sample, Format::Text));
}
