use std::collections::BTreeMap;

use prony_model::{Baseline, Engine, IntentValue, OptionOrigin, RenderedOption};
use proptest::prelude::*;

use crate::table::Table;
use crate::{Difference, DifferenceKind, Subject, UnequalTargets, VariableTable};

const TABLE: &str = r#"
equal = [["ON", "1"], ["OFF", "0"]]

[[variable]]
names = ["eq_range_index_dive_limit"]
why = "lists of values are estimated by looking"
absent = "0"

[[variable]]
names = ["size * files", "capacity"]
why = "writes back early"
intent = "redo_log"
engines = ["innodb"]

[[variable]]
names = ["table_cache", "table_open_cache"]
why = "tables are opened again"

[[variable]]
names = ["sort_buffer_size"]
why = "sorted on disk"
tolerance = 0.05

[[variable]]
names = ["optimizer_switch.mrr"]
why = "reads in the order of rows"

[[variable]]
names = ["log_bin"]
why = "every change is written once more"
intent = "binlog"

[[variable]]
names = ["flush_method"]
why = "page cache"
equal = [["", "fsync"]]

[[variable]]
names = ["prony.allocator"]
why = "speed of short statements"
intent = "allocator"
stops = false

[[ignored]]
names = ["version*"]
why = "what the server is called"
"#;

/// A subject that owns what it is made of.
#[derive(Debug, Clone)]
struct Server {
    name: String,
    engine: Engine,
    external: bool,
    baseline: Baseline,
    intents: BTreeMap<String, IntentValue>,
    options: Vec<RenderedOption>,
    variables: BTreeMap<String, String>,
}

fn server(name: &str, variables: &[(&str, &str)]) -> Server {
    let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    Server {
        name: name.to_owned(),
        engine: Engine::Innodb,
        external: false,
        baseline: Baseline::Common,
        intents: BTreeMap::new(),
        options: Vec::new(),
        variables: variables.iter().map(own).collect(),
    }
}

impl Server {
    fn on(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    fn external(mut self) -> Self {
        self.external = true;
        self
    }

    fn shipped(mut self) -> Self {
        self.baseline = Baseline::Shipped;
        self
    }

    fn wants(mut self, intent: &str, value: &str) -> Self {
        let value = IntentValue::Text(value.to_owned());
        self.intents.insert(intent.to_owned(), value);
        self
    }

    fn told(mut self, option: &str, origin: OptionOrigin) -> Self {
        let option = RenderedOption::new(option, origin, None, "");
        self.options.push(option);
        self
    }
}

fn subjects(servers: &[Server]) -> Vec<Subject<'_>> {
    servers
        .iter()
        .map(|server| Subject {
            name: &server.name,
            external: server.external,
            baseline: server.baseline,
            engine: server.engine,
            intents: &server.intents,
            options: &server.options,
            variables: &server.variables,
        })
        .collect()
}

fn table() -> Table {
    Table::parse("t.toml", TABLE).unwrap()
}

fn compare(servers: &[Server]) -> Vec<Difference> {
    table().compare(&subjects(servers), &[])
}

fn only(servers: &[Server]) -> Difference {
    let mut differences = compare(servers);
    assert_eq!(differences.len(), 1, "{differences:?}");
    differences.remove(0)
}

#[test]
fn a_raw_option_in_one_target_stops_the_run() {
    let limit = "eq_range_index_dive_limit";
    let difference = only(&[
        server("mysql-5.7.22", &[(limit, "0")]),
        server("mysql-8.0.31", &[(limit, "200")]).told(&format!("{limit}=200"), OptionOrigin::Raw),
    ]);
    assert_eq!(difference.kind, DifferenceKind::RawOption);
    assert!(difference.stops());
    let alike =
        |value| server("a", &[(limit, value)]).told(&format!("{limit}={value}"), OptionOrigin::Raw);
    assert_eq!(compare(&[alike("200"), alike("200")]), []);
}

#[test]
fn a_missing_variable_is_what_its_absence_stands_for() {
    let limit = "eq_range_index_dive_limit";
    let without = || server("mysql-5.5.34", &[]);
    assert_eq!(compare(&[without(), server("b", &[(limit, "0")])]), []);
    let difference = only(&[without(), server("b", &[(limit, "10")])]);
    assert_eq!(difference.kind, DifferenceKind::DefaultChanged);
    assert!(difference.stops());
    assert_eq!(
        difference.by_value(),
        [(None, vec![0]), (Some("10"), vec![1])]
    );
}

#[test]
fn what_exists_only_in_some_stops_nothing() {
    let difference = only(&[
        server("a", &[]),
        server("b", &[("table_open_cache", "5")]),
        server("c", &[("table_cache", "5")]),
    ]);
    assert_eq!(difference.kind, DifferenceKind::OnlyInSome);
    assert!(difference.matters.is_some() && !difference.stops());
    assert_eq!(difference.variable, "table_open_cache");
}

#[test]
fn an_intent_explains_the_difference_it_was_asked_for_and_no_other() {
    let on = || server("on", &[("log_bin", "ON")]).wants("binlog", "on");
    let off = || server("off", &[("log_bin", "OFF")]).wants("binlog", "off");
    let silent = |value| server("silent", &[("log_bin", value)]);
    assert_eq!(compare(&[on(), off()]), []);
    assert_eq!(compare(&[on(), silent("OFF")]), []);
    let difference = only(&[on(), off(), silent("ON"), silent("OFF")]);
    assert_eq!(difference.governed_by.as_deref(), Some("binlog"));
    assert!(difference.stops());
    // Raw options are no excuse, not even where intents differ too.
    let raw_too = on().told("log-bin=x", OptionOrigin::Raw);
    assert_eq!(only(&[raw_too, off()]).kind, DifferenceKind::RawOption);
    let raw = silent("ON").told("log-bin=x", OptionOrigin::Raw);
    assert_eq!(only(&[raw, silent("OFF")]).kind, DifferenceKind::RawOption);
}

#[test]
fn an_intent_explains_no_difference_from_an_external_server() {
    let ours = server("ours", &[("log_bin", "OFF")]).wants("binlog", "off");
    let theirs = server("theirs", &[("log_bin", "ON")]);
    assert_eq!(compare(&[ours.clone(), theirs.clone()]), []);
    let found = only(&[ours, theirs.external()]);
    assert!(found.stops(), "{found:?}");
}

#[test]
fn shipped_settings_differ_and_stop_nothing() {
    let cache = "table_open_cache";
    let old = || server("old", &[(cache, "400")]).shipped();
    let new = || server("new", &[(cache, "4000")]).shipped();
    let common = |value| server("common", &[(cache, value)]);
    for pair in [
        [old(), new()],
        [common("2000"), new()],
        [new(), common("1")],
    ] {
        let found = only(&pair);
        assert_eq!(found.kind, DifferenceKind::DefaultChanged);
        assert!(found.matters.is_some() && found.shipped && !found.stops());
    }
    // Two of the common baseline differ for no such reason.
    let found = only(&[common("1"), new(), common("2")]);
    assert!(!found.shipped && found.stops());
    // Neither do servers that were asked for the same, or given another option.
    let asked = |name, value| {
        let asked = server(name, &[("log_bin", value)]).wants("binlog", "on");
        asked.shipped()
    };
    assert!(only(&[asked("a", "ON"), asked("b", "OFF")]).stops());
    let given = old().told("table_open_cache=400", OptionOrigin::Raw);
    assert!(only(&[given, new()]).stops());
    // What is asked of one explains the difference, as always.
    let silent = server("silent", &[("log_bin", "OFF")]).shipped();
    assert_eq!(compare(&[asked("a", "ON"), silent]), []);
}

#[test]
fn a_raw_option_that_only_one_version_has_stops_the_run_too() {
    let old = server("old", &[]);
    let new = server("new", &[("eq_range_index_dive_limit", "64")])
        .told("eq_range_index_dive_limit=64", OptionOrigin::Raw);
    let found = only(&[old, new]);
    assert_eq!(found.kind, DifferenceKind::RawOption);
    assert!(found.stops(), "{found:?}");
}

#[test]
fn options_name_the_intent_of_variables_without_a_row() {
    let with = |value: &str, asked: &str| {
        let mut server = server(value, &[("x", value)]).wants("i", asked);
        let option = RenderedOption::new("x=1", OptionOrigin::Intent, Some("i"), "");
        server.options.push(option);
        server
    };
    assert_eq!(compare(&[with("1", "a"), with("2", "b")]), []);
    let difference = only(&[with("1", "a"), with("2", "a")]);
    assert_eq!(difference.governed_by.as_deref(), Some("i"));
    assert!(!difference.stops(), "it is not known to matter");
}

#[test]
fn servers_that_change_what_they_were_told_are_named() {
    let told = |got| {
        server(got, &[("table_open_cache", got)])
            .told("table-open-cache=2000", OptionOrigin::Baseline)
    };
    let difference = only(&[told("2000"), told("431")]);
    assert_eq!(difference.kind, DifferenceKind::Adjusted);
    assert!(difference.stops());
    assert_eq!(difference.asked, [Some("2000".into()), Some("2000".into())]);
}

#[test]
fn a_switch_given_a_file_is_on() {
    let servers = [
        server("a", &[("log_bin", "ON")]).told("log-bin=binlog", OptionOrigin::Baseline),
        server("b", &[("log_bin", "OFF")]),
    ];
    assert_eq!(only(&servers).kind, DifferenceKind::DefaultChanged);
}

#[test]
fn products_and_new_names_are_one_variable() {
    let old = server("5.7", &[("size", "48M"), ("files", "2")]);
    let both = server(
        "8.0.31",
        &[("size", "1"), ("files", "1"), ("capacity", "100663296")],
    );
    assert_eq!(compare(&[old, both]), []);
    let servers = [
        server("5.7", &[("size", "48M"), ("files", "2")]).told("size=48M", OptionOrigin::Baseline),
        server("8.0", &[("capacity", "48M")]),
    ];
    let difference = only(&servers);
    assert_eq!(difference.variable, "capacity");
    assert_eq!(difference.values[0].as_deref(), Some("100663296"));
    assert_eq!(difference.asked[0].as_deref(), Some("100663296"));
}

#[test]
fn a_variable_matters_where_its_engine_is_used() {
    let with = |size, engine| server(size, &[("capacity", size)]).on(engine);
    let (innodb, myisam) = (Engine::Innodb, Engine::Myisam);
    assert!(only(&[with("1", innodb), with("2", innodb), with("2", myisam)]).stops());
    let elsewhere = only(&[with("1", innodb), with("1", innodb), with("2", myisam)]);
    assert_eq!(elsewhere.matters, None);
}

#[test]
fn numbers_within_the_tolerance_are_equal() {
    let with = |size| server(size, &[("sort_buffer_size", size)]);
    assert_eq!(
        compare(&[with("262136"), with("258048"), with("262144")]),
        []
    );
    // Not a chain: the smallest is compared with the largest.
    let difference = only(&[with("100"), with("96"), with("92")]);
    assert_eq!(difference.by_value().len(), 2);
}

#[test]
fn switches_of_a_list_are_variables_of_their_own() {
    let with = |name, value| server(name, &[("optimizer_switch", value)]);
    let differences = compare(&[
        with("a", "mrr=on,icp=on,old=off"),
        with("b", "icp=on,mrr=off"),
        with("c", "mrr=off,icp=on,new=on"),
    ]);
    let found: Vec<(&str, DifferenceKind, bool)> = differences
        .iter()
        .map(|d| (d.variable.as_str(), d.kind, d.stops()))
        .collect();
    let expected = [
        ("optimizer_switch.mrr", DifferenceKind::DefaultChanged, true),
        ("optimizer_switch.new", DifferenceKind::OnlyInSome, false),
        ("optimizer_switch.old", DifferenceKind::OnlyInSome, false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn any_name_of_a_variable_can_be_allowed() {
    let servers = [
        server(
            "a",
            &[
                ("table_cache", "1"),
                ("size", "1"),
                ("optimizer_switch", "mrr=on"),
            ],
        ),
        server(
            "b",
            &[
                ("table_open_cache", "2"),
                ("capacity", "2"),
                ("optimizer_switch", "mrr=off"),
            ],
        ),
    ];
    let subjects = subjects(&servers);
    let stopping = |allow: &[&str]| -> Vec<String> {
        let allow: Vec<String> = allow.iter().map(|name| (*name).to_owned()).collect();
        let differences = table().compare(&subjects, &allow);
        differences
            .into_iter()
            .filter(Difference::stops)
            .map(|d| d.variable)
            .collect()
    };
    assert_eq!(stopping(&[]).len(), 3);
    assert_eq!(
        stopping(&["table-cache", "files", "optimizer_switch"]),
        [""; 0]
    );
    assert_eq!(
        stopping(&["table_open_cache", "capacity"]),
        ["optimizer_switch.mrr"]
    );
    for known in ["table_cache", "optimizer_switch", "optimizer_switch.mrr"] {
        assert!(table().knows(&subjects, known), "{known}");
    }
    assert!(!table().knows(&subjects, "sort_bufer"));
}

#[test]
fn the_allocator_of_a_build_only_warns() {
    let with = |name| server(name, &[("prony.allocator", name)]);
    let difference = only(&[with("libc"), with("tcmalloc")]);
    assert!(difference.matters.is_some() && !difference.stops());
    let asked = |name| with(name).wants("allocator", "jemalloc");
    assert!(only(&[asked("jemalloc"), asked("libc")]).stops());
    assert_eq!(compare(&[asked("jemalloc"), with("libc")]), []);
}

#[test]
fn everything_that_stops_is_in_one_message() {
    let mut servers: Vec<Server> = (0..9)
        .map(|number| {
            let variables = [
                ("eq_range_index_dive_limit", "0"),
                ("table_open_cache", "2000"),
                ("flush_method", ""),
            ];
            server(&format!("mysql-5.7.{number}"), &variables)
                .told("table_open_cache=2000", OptionOrigin::Baseline)
        })
        .collect();
    servers.push(
        server(
            "tuned",
            &[
                ("eq_range_index_dive_limit", "200"),
                ("table_open_cache", "431"),
                ("flush_method", "O_DIRECT"),
                ("version", "8.0.31-log"),
            ],
        )
        .told("eq_range_index_dive_limit=200", OptionOrigin::Raw)
        .told("table_open_cache=2000", OptionOrigin::Baseline),
    );
    let subjects = subjects(&servers);
    let differences = table().compare(&subjects, &[]);
    let error = UnequalTargets::of(&subjects, &differences).unwrap();
    insta::assert_snapshot!(format!("failed to {error}"));
    assert_eq!(UnequalTargets::of(&subjects[..9], &[]), None);
}

const BUILDS: [(&str, &str); 7] = [
    (
        "mysql-5.0.21",
        include_str!("../../tests/data/mysql-5.0.21.tsv"),
    ),
    (
        "mysql-5.5.34",
        include_str!("../../tests/data/mysql-5.5.34.tsv"),
    ),
    (
        "mysql-5.6.24",
        include_str!("../../tests/data/mysql-5.6.24.tsv"),
    ),
    (
        "mysql-5.7.22",
        include_str!("../../tests/data/mysql-5.7.22.tsv"),
    ),
    (
        "mysql-8.0.31",
        include_str!("../../tests/data/mysql-8.0.31.tsv"),
    ),
    ("mysql-9.7", include_str!("../../tests/data/mysql-9.7.tsv")),
    (
        "mariadb-10.11",
        include_str!("../../tests/data/mariadb-10.11.tsv"),
    ),
];

fn real(engine: Engine) -> Vec<Server> {
    BUILDS
        .iter()
        .map(|(name, text)| {
            let pairs: Vec<(&str, &str)> = text
                .lines()
                .filter_map(|line| line.split_once('\t'))
                .collect();
            server(name, &pairs).on(engine)
        })
        .collect()
}

/// Under the common baseline, as these servers answered it.
#[test]
fn real_servers_differ_in_known_ways() {
    let table = VariableTable::embedded().unwrap();
    let servers = real(Engine::Innodb);
    let differences = table.compare(&subjects(&servers), &[]);
    let find = |name: &str| differences.iter().find(|d| d.variable == name);
    for equalised in [
        "innodb_redo_log_capacity",
        "innodb_flush_method",
        "eq_range_index_dive_limit",
        "performance_schema",
        "sort_buffer_size",
        "innodb_buffer_pool_size",
        "character_set_server",
        "version",
        "basedir",
    ] {
        assert!(find(equalised).is_none(), "{:?}", find(equalised));
    }
    for (left, kind) in [
        ("innodb_io_capacity", DifferenceKind::OnlyInSome),
        ("innodb_purge_threads", DifferenceKind::OnlyInSome),
        ("optimizer_switch.hash_join", DifferenceKind::OnlyInSome),
    ] {
        assert_eq!(find(left).map(|d| d.kind), Some(kind), "{left}");
    }
}

/// The fault of a published study: one server of several with another limit for index dives.
#[test]
fn the_fault_of_a_study_is_found_among_real_servers() {
    let limit = "eq_range_index_dive_limit";
    let mut servers = real(Engine::Innodb);
    servers[4].variables.insert(limit.into(), "200".into());
    let option = RenderedOption::new(&format!("{limit}=200"), OptionOrigin::Raw, None, "");
    servers[4].options.push(option);
    let subjects = subjects(&servers);
    let table = VariableTable::embedded().unwrap();
    let differences = table.compare(&subjects, &[]);
    let error = UnequalTargets::of(&subjects, &differences).unwrap();
    assert!(error.differences().iter().any(|d| d.variable == limit));
    let allow = [limit.to_owned()];
    let differences = table.compare(&subjects, &allow);
    assert!(
        differences
            .iter()
            .any(|d| d.variable == limit && d.allowed && !d.stops())
    );
}

prop_compose! {
    fn any_server()(
        engine in prop::sample::select(vec![Engine::Innodb, Engine::Myisam]),
        intents in prop::collection::btree_map("redo_log|binlog|allocator", "a|b", 0..2),
        options in prop::collection::vec(
            ("size|files|table-open-cache|log-bin|x", "1|2|100", prop::bool::ANY), 0..3),
        variables in prop::collection::btree_map(
            "eq_range_index_dive_limit|size|files|capacity|table_cache|table_open_cache|\
             sort_buffer_size|optimizer_switch|log_bin|flush_method|prony.allocator|version|x",
            "|0|1|2|98|100|ON|OFF|mrr=on|mrr=off,icp=on", 0..8),
    ) -> Server {
        let own = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut server = server("s", &own.collect::<Vec<_>>()).on(engine);
        for (intent, value) in intents {
            server = server.wants(&intent, &value);
        }
        for (name, value, raw) in options {
            let origin = if raw { OptionOrigin::Raw } else { OptionOrigin::Baseline };
            server = server.told(&format!("{name}={value}"), origin);
        }
        server
    }
}

/// A difference with everything by subject in the given order.
fn reordered(mut difference: Difference, order: &[usize]) -> Difference {
    difference.values = order
        .iter()
        .map(|&s| difference.values[s].clone())
        .collect();
    difference.asked = order.iter().map(|&s| difference.asked[s].clone()).collect();
    difference.groups = order.iter().map(|&s| difference.groups[s]).collect();
    difference
}

proptest! {
    /// The order of the targets changes nothing but the order of the values.
    #[test]
    fn order_does_not_matter(
        (servers, order) in prop::collection::vec(any_server(), 2..=20).prop_flat_map(|servers| {
            let order: Vec<usize> = (0..servers.len()).collect();
            (Just(servers), Just(order).prop_shuffle())
        })
    ) {
        let subjects = subjects(&servers);
        let shuffled: Vec<Subject<'_>> = order.iter().map(|&s| subjects[s]).collect();
        let expected: Vec<Difference> = table()
            .compare(&subjects, &[])
            .into_iter()
            .map(|difference| reordered(difference, &order))
            .collect();
        prop_assert_eq!(table().compare(&shuffled, &[]), expected);
    }

    /// Targets that are equal do not differ, however many there are.
    #[test]
    fn equal_targets_do_not_differ(server in any_server(), count in 2_usize..=20) {
        let server = [server];
        let subjects = vec![subjects(&server)[0]; count];
        prop_assert_eq!(table().compare(&subjects, &[]), []);
    }

    /// Every subject is in exactly one group of values, and what differs has two of them.
    #[test]
    fn values_are_a_partition(servers in prop::collection::vec(any_server(), 2..=20)) {
        for difference in table().compare(&subjects(&servers), &[]) {
            let mut all: Vec<usize> =
                difference.by_value().into_iter().flat_map(|(_, subjects)| subjects).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..servers.len()).collect::<Vec<_>>());
            prop_assert!(difference.by_value().len() > 1);
        }
    }
}
