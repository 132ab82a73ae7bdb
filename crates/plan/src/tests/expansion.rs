//! Plans that right experiments expand to.

use std::collections::BTreeSet;

use prony_model::{
    CountRange, Engine, Family, IntentFacts, IntentKind, IntentValue, Length, LoadMethod, Protocol,
};
use proptest::prelude::*;

use super::{RIGHT, World, rendered};
use crate::{Assumptions, predicted_ms};

#[test]
fn the_small_experiment_in_full() {
    let plan = World::new().parse(RIGHT).unwrap();
    assert_eq!(plan.name, "small");
    assert_eq!(plan.question, "Is it right?");
    assert_eq!((plan.base, plan.seed, plan.blocks()), (0, 1, 3));
    assert_eq!(
        (plan.dataset.tables, plan.dataset.rows, plan.dataset.seed),
        (2, 10_000, 1)
    );

    let names: Vec<_> = plan
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    assert_eq!(names, ["mysql-5.0.21", "mysql-5.7.22"]);
    let target = &plan.targets[1];
    assert_eq!(target.build.version.to_string(), "5.7.22");
    assert_eq!(
        (target.engine, target.protocol),
        (Engine::Innodb, Protocol::Prepared)
    );
    assert_eq!(
        target.config.intents["buffer_pool"],
        IntentValue::Bytes(256 << 20)
    );
    assert_eq!(target.config.intents["binlog"], IntentValue::Flag(false));

    let cells: Vec<_> = plan
        .steps
        .iter()
        .map(|step| (step.entry, step.name.as_str(), step.own().clients))
        .collect();
    assert_eq!(
        cells,
        [
            (0, "point-query", 1),
            (0, "point-query", 4),
            (1, "read-only.range10", 1),
            (1, "read-only.range10", 4),
        ]
    );
    let step = &plan.steps[3];
    assert_eq!(step.own().parameters["range"], 10);
    assert_eq!(
        (step.warmup_ms, step.length),
        (500, Length::Time { ms: 3000 })
    );
}

#[test]
fn expected_rows_follow_the_steps_parameters() {
    let plan = World::new().parse(RIGHT).unwrap();
    let expected: Vec<_> = plan.steps[2]
        .own()
        .workload
        .statements
        .iter()
        .map(|statement| statement.expect.rows)
        .collect();
    let rows = |min, max| Some(CountRange { min, max });
    assert_eq!(
        expected,
        [
            rows(1, 1),
            rows(10, 10),
            rows(1, 1),
            rows(10, 10),
            rows(1, 10)
        ]
    );
}

#[test]
fn answers_may_lack_rows_after_a_step_that_removes_some() {
    let text =
        format!("{RIGHT}\n[[step]]\nworkload = \"delete\"\n[[step]]\nworkload = \"read-write\"\n");
    let plan = World::new().parse(&text).unwrap();
    let expected = |step: usize, statement: usize| {
        let expect = plan.steps[step].own().workload.statements[statement].expect;
        let range = expect.rows.or(expect.affected).unwrap();
        (range.min, range.max)
    };
    // The step before it is not touched, and what is put back is put back.
    assert_eq!(expected(2, 1), (10, 10));
    assert_eq!(expected(6, 1), (0, 100));
    assert_eq!(plan.steps[6].own().workload.statements[7].name, "delete");
    assert_eq!(expected(6, 7), (0, 1));
    assert_eq!(expected(6, 8), (1, 1));
}

#[test]
fn what_a_target_sets_goes_over_the_defaults() {
    let text = RIGHT.replace(
        "build = \"mysql-5.7.22\"",
        "build = \"mysql-5.7.22\"
engine = \"myisam\"
protocol = \"text\"
config.binlog = true
options = { sort_buffer_size = 65536, log_warnings = true, slow_launch_time = \"2\" }",
    );
    let plan = World::new().parse(&text).unwrap();
    let target = &plan.targets[1];
    assert_eq!(
        (target.engine, target.protocol),
        (Engine::Myisam, Protocol::Text)
    );
    assert_eq!(target.config.intents["binlog"], IntentValue::Flag(true));
    assert!(target.config.intents.contains_key("buffer_pool"));
    let raw: Vec<_> = target
        .config
        .raw
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(
        raw,
        [
            ("log_warnings", "1"),
            ("slow_launch_time", "2"),
            ("sort_buffer_size", "65536")
        ]
    );
    assert_eq!(
        plan.targets[0].config.intents["binlog"],
        IntentValue::Flag(false)
    );
}

#[test]
fn what_a_step_sets_goes_over_the_sequence() {
    let text = RIGHT.replace(
        "parameters.range = 10",
        "name = \"short\"\nwarmup = \"0s\"\noperations = 1_000\nclients = [2]",
    );
    let plan = World::new().parse(&text).unwrap();
    let [step] = &plan.steps[2..] else {
        panic!("one step expected: {:?}", plan.steps.len());
    };
    assert_eq!(
        (step.name.as_str(), step.own().clients, step.warmup_ms),
        ("short", 2, 0)
    );
    assert_eq!(step.length, Length::Count { operations: 1000 });
    assert_eq!(step.own().parameters["range"], 100);
}

#[test]
fn targets_of_one_build_are_named_after_what_differs() {
    let text = RIGHT
        .replace(
            "build = \"mysql-5.0.21\"",
            "build = \"mysql-5.7.22\"\nengine = \"myisam\"",
        )
        .replace("base = \"mysql-5.0\"", "base = \"innodb-binlog-off\"")
        + "[[target]]\nbuild = \"mysql-5.7.22\"\nconfig.binlog = true\n";
    let plan = World::new().parse(&text).unwrap();
    let names: Vec<_> = plan
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["myisam-binlog-off", "innodb-binlog-off", "innodb-binlog-on",]
    );
    assert_eq!(plan.base, 1);
}

#[test]
fn the_base_is_found_by_name_build_or_beginning() {
    let world = World::new();
    for (written, found) in [
        ("mysql-5.0.21", 0),
        ("mysql-5.0", 0),
        ("mysql-5.7.22", 1),
        ("new", 1),
        ("mysql-5.7", 1),
    ] {
        let text = RIGHT
            .replace("\"mysql-5.0\"", &format!("\"{written}\""))
            .replace(
                "build = \"mysql-5.7.22\"",
                "build = \"mysql-5.7.22\"\nname = \"new\"",
            );
        assert_eq!(world.parse(&text).unwrap().base, found, "{written}");
    }
}

#[test]
fn prediction_follows_its_formula() {
    let assumptions = Assumptions {
        bootstrap_ms: 10_000,
        load_rows_per_second: 10_000,
        insert_rows_per_second: 5_000,
        start_ms: 4000,
        stop_ms: 1000,
        canary_ms: 150,
        step_ms: 100,
        late_counters_ms: 1700,
        client_us: 10_000,
        queries_per_second: 500,
        clients_at_once: 2,
        valgrind_slowdown: 10,
        valgrind_start_ms: 7000,
    };
    let plan = World::new().parse(RIGHT).unwrap();
    // Two targets of 2 × 10,000 rows; six trials of four steps, with 1, 4, 1 and 4 clients.
    let clients = 2 * (10 + 40);
    assert_eq!(
        predicted_ms(&plan, &assumptions),
        2 * 12_000 + 6 * (5300 + 4 * 3600 + clients)
    );
    // Three trials are of PostgreSQL, whose counters are read late unless nobody asks for them.
    let mut late = plan.clone();
    late.targets[1].build.family = Family::Postgresql;
    let late_ms = predicted_ms(&late, &assumptions) - predicted_ms(&plan, &assumptions);
    assert_eq!(late_ms, 3 * 4 * 1700);
    late.targets[1].collect.status = false;
    let late_ms = predicted_ms(&late, &assumptions) - predicted_ms(&plan, &assumptions);
    assert_eq!(late_ms, 0);
    let counted = RIGHT
        .replace("time = \"3s\"", "")
        .replace("[[step]]", "[[step]]\noperations = 4000");
    let plan = World::new().parse(&counted).unwrap();
    // 4000 queries at 500 each second take one client 8 s, and four clients, of which two are
    // served at once, 4 s; the transactions have 16.
    let counts = 17 * (8000 + 4000);
    assert_eq!(
        predicted_ms(&plan, &assumptions),
        2 * 12_000 + 6 * (5300 + counts + 4 * 600 + clients)
    );
    // By inserts the rows are loaded in every trial, and at another rate.
    let inserts = RIGHT.replace("[dataset]", "[dataset]\nload = \"inserts\"");
    let plan = World::new().parse(&inserts).unwrap();
    assert_eq!(plan.dataset.load, LoadMethod::Inserts);
    assert_eq!(
        predicted_ms(&plan, &assumptions),
        2 * 10_000 + 6 * (4000 + 5300 + 4 * 3600 + clients)
    );
    let idle = RIGHT.replacen(
        "[[step]]",
        "[[step]]\nsettle = { idle = \"9s\" }\n[[step]]",
        1,
    );
    let plan = World::new().parse(&idle).unwrap();
    assert_eq!(
        predicted_ms(&plan, &assumptions),
        2 * 12_000 + 6 * (5300 + 9000 + 4 * 3600 + clients)
    );
}

/// An experiment with as many targets, steps and clients as asked for.
fn experiment(targets: usize, blocks: u32, entries: &[BTreeSet<u32>], seed: u64) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        "name = \"any\"\nbase = \"t0\"\nblocks = {blocks}\naa = false\nseed = {seed}\n\
         [dataset]\nrows = 1000\n[sequence]\ntime = \"1s\"\n"
    );
    for target in 0..targets {
        write!(
            text,
            "[[target]]\nbuild = \"mysql-5.7.22\"\nname = \"t{target}\"\n"
        )
        .unwrap();
    }
    for (entry, clients) in entries.iter().enumerate() {
        write!(
            text,
            "[[step]]\nworkload = \"point-query\"\nname = \"s{entry}\"\nclients = {:?}\n",
            clients.iter().collect::<Vec<_>>()
        )
        .unwrap();
    }
    text
}

/// A target with a matrix and an external one.
const VARIED: &str = "[target.matrix]
build = [\"mysql-5.7.22\", \"mysql-8.0.31\"]
transport = [\"socket\", \"tcp\"]
key_buffer = [\"64M\", \"128M\"]
options.sort_buffer_size = [1, 2]

[[target]]
name = \"copy\"
[target.external]
address = \"127.0.0.1:3306\"
user = \"bench\"
password_env = \"SECRET\"
database = \"prony\"
tls = \"verify-ca\"
ca = \"ca.pem\"
family = \"mysql\"
version = \"8.0.31\"
";

#[test]
fn matrices_and_external_servers_go_together() {
    let text = RIGHT.replace("build = \"mysql-5.7.22\"\n", VARIED);
    let plan = World::new().parse(&text).unwrap();
    assert_eq!(plan.targets.len(), 1 + 16 + 1);
    assert_eq!(plan.trials.len(), 18 * 3);
}

proptest! {
    /// There are targets × blocks trials, each block has each target exactly once, there are as
    /// many steps as all entries have numbers of clients, and the same file gives the same plan.
    #[test]
    fn counts_and_order(
        targets in 1..8_usize,
        blocks in 1..12_u32,
        entries in prop::collection::vec(prop::collection::btree_set(1..200_u32, 1..5), 1..6),
        seed in 0..1000_u64,
    ) {
        let world = World::new();
        let text = experiment(targets, blocks, &entries, seed);
        let plan = world.parse(&text).unwrap();

        prop_assert_eq!(plan.trials.len(), targets * blocks as usize);
        for (block, trials) in (0_u32..).zip(plan.trials.chunks(targets)) {
            prop_assert!(trials.iter().all(|trial| trial.block == block));
            let distinct: BTreeSet<_> = trials.iter().map(|trial| trial.target).collect();
            prop_assert_eq!(distinct, (0..targets).collect::<BTreeSet<_>>());
        }
        let cells: Vec<_> = plan.steps.iter().map(|step| (step.entry, step.own().clients)).collect();
        let wanted: Vec<_> = entries
            .iter()
            .enumerate()
            .flat_map(|(entry, clients)| clients.iter().map(move |count| (entry, *count)))
            .collect();
        prop_assert_eq!(cells, wanted);
        prop_assert_eq!(plan, world.parse(&text).unwrap());
    }

    /// No text whatsoever makes the readers panic, and what is refused can be shown.
    #[test]
    fn arbitrary_text_is_read_or_refused(text in any::<String>()) {
        if let Err(invalid) = World::new().parse(&text) {
            super::rendered(&invalid);
        }
        if let Err(invalid) = crate::parse_workloads("any.toml", &text) {
            super::rendered(&invalid);
        }
    }

    /// Nor does a right file with one line lost, doubled, or its value replaced.
    #[test]
    fn damaged_files_are_read_or_refused(
        line in 0..80_usize,
        damage in prop::sample::select(vec!["", "= 1", "= -1", "= []", "= {}", "= \"é\"", "= \"-5s\"", "= 1e9", "="]),
    ) {
        let world = World::new();
        let varied = RIGHT.replace("build = \"mysql-5.7.22\"\n", VARIED);
        let files = [RIGHT, &varied, include_str!("../../../../workloads/aggregate.toml")];
        for file in files {
            let mut lines: Vec<_> = file.lines().map(str::to_owned).collect();
            let line = line % lines.len();
            let key = lines[line].split('=').next().unwrap_or_default().to_owned();
            lines[line] = if damage.is_empty() { String::new() } else { key + damage };
            let text = lines.join("\n");
            if let Err(invalid) = world.parse(&text) {
                super::rendered(&invalid);
            }
            if let Err(invalid) = crate::parse_workloads("any.toml", &text) {
                super::rendered(&invalid);
            }
        }
    }
}

/// A world in which only MariaDB has the page cache of Aria, as in the catalogue.
fn with_aria() -> World {
    let mut world = World::new();
    world.intents.push(IntentFacts {
        name: "aria_page_cache".to_owned(),
        kind: IntentKind::Bytes,
        choices: Vec::new(),
        description: String::new(),
        baselines: [(Family::Mariadb, None)].into(),
        summary: Vec::new(),
    });
    world
}

#[test]
fn defaults_leave_out_what_a_family_has_nothing_of() {
    let text = |defaults: &str, own: &str| {
        format!(
            "name = \"m\"\nbase = \"mysql-8.0.31\"\nblocks = 2\naa = false\n[dataset]\nrows = 1000\n\
             [defaults]\n{defaults}\n[[target]]\nbuild = \"mysql-8.0.31\"\n{own}\n\
             [[target]]\nbuild = \"mariadb-11.8\"\n\
             [[step]]\nworkload = \"point-query\"\ntime = \"1s\"\n"
        )
    };
    let parse = |defaults: &str, own: &str| {
        let plan = with_aria().parse(&text(defaults, own));
        let plan = plan.unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
        let asked = plan.targets.iter().map(|target| {
            let asked = target.config.intents.iter();
            let asked: Vec<String> = asked
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            (target.name.clone(), asked.join(", "))
        });
        asked.collect::<Vec<_>>()
    };
    let of = |name: &str, asked: &str| (name.to_owned(), asked.to_owned());
    assert_eq!(
        parse(
            "config = { aria_page_cache = \"64M\", buffer_pool = \"1G\" }",
            ""
        ),
        [
            of("mysql-8.0.31", "buffer_pool 1G"),
            of("mariadb-11.8", "aria_page_cache 64M, buffer_pool 1G"),
        ]
    );
    // Of a matrix one target is left.
    assert_eq!(
        parse("matrix = { aria_page_cache = [\"64M\", \"1G\"] }", ""),
        [
            of("mysql-8.0.31", ""),
            of("mariadb-11.8-aria_page_cache-64M", "aria_page_cache 64M"),
            of("mariadb-11.8-aria_page_cache-1G", "aria_page_cache 1G"),
        ]
    );
    // The target's own is for the catalogue to refuse.
    assert_eq!(
        parse("", "config = { aria_page_cache = \"64M\" }")[0],
        of("mysql-8.0.31", "aria_page_cache 64M")
    );
}
