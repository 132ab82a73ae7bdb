use std::collections::BTreeMap;

use prony_model::{Config, Family};

use super::*;

mod postgresql;

fn config(intents: &[(&str, IntentValue)], raw: &[(&str, &str)]) -> Config {
    Config {
        intents: intents
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
        raw: raw
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        ..Config::default()
    }
}

fn shipped(config: Config) -> Config {
    Config {
        baseline: Baseline::Shipped,
        ..config
    }
}

fn render(id: &str, engine: Engine, config: &Config) -> Result<Rendered, RenderError> {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.get(id).unwrap().facts();
    catalogue.render(&facts, Wanted::over_socket(engine, config, 4))
}

#[test]
fn the_baseline_of_every_build() {
    let catalogue = Catalogue::embedded().unwrap();
    for entry in catalogue.entries() {
        let facts = entry.facts();
        let config = Config::default();
        let text = |engine| {
            let wanted = Wanted::over_socket(engine, &config, 4);
            catalogue.render(&facts, wanted).unwrap().text()
        };
        if facts.family == Family::Postgresql {
            continue;
        }
        insta::assert_snapshot!(format!("baseline-{}", entry.id), text(Engine::Innodb));
        if facts.engines.contains(&Engine::Rocksdb) {
            let name = format!("baseline-{}-rocksdb", entry.id);
            insta::assert_snapshot!(name, text(Engine::Rocksdb));
        }
    }
}

/// One build of each series.
const SERIES: [&str; 13] = [
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.5.34",
    "mysql-5.6.24",
    "mysql-5.7.29",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-10.1.23",
    "mariadb-10.2.11",
    "mariadb-10.5",
    "mariadb-10.11",
    "mariadb-11.4.5",
    "mariadb-11.8",
];

/// An option as a line of the file.
fn line(option: &RenderedOption) -> String {
    match &option.value {
        Some(value) => format!("{}={value}", option.name),
        None => option.name.clone(),
    }
}

#[test]
fn shipped_settings_are_left_alone_in_every_series() {
    let asked = shipped(config(
        &[("buffer_pool", IntentValue::Bytes(256 << 20))],
        &[],
    ));
    let told = SERIES.map(|id| {
        let rendered = render(id, Engine::Innodb, &asked).unwrap();
        let lines: Vec<_> = rendered.options.iter().map(line).collect();
        format!("{id}:\n{}\n", lines.join("\n"))
    });
    insta::assert_snapshot!("shipped", told.join("\n"));
}

#[test]
fn shipped_and_common_settings_make_different_images() {
    let plain = Config::default();
    for id in SERIES {
        let common = render(id, Engine::Innodb, &plain).unwrap();
        let shipped = render(id, Engine::Innodb, &shipped(plain.clone())).unwrap();
        assert_ne!(common.hash(), shipped.hash(), "{id}");
        assert_eq!(shipped.process, ProcessSettings::default());
    }
}

#[test]
fn every_version_says_an_intent_in_its_own_words() {
    let asked = config(
        &[
            ("redo_log", IntentValue::Bytes(256 << 20)),
            ("flush_method", IntentValue::Text("direct".into())),
            ("binlog", IntentValue::Flag(true)),
        ],
        &[],
    );
    let told = |id| {
        let rendered = render(id, Engine::Myisam, &asked).unwrap();
        let lines: Vec<_> = rendered
            .options
            .iter()
            .filter(|option| matches!(option.origin, OptionOrigin::Intent))
            .map(line)
            .collect();
        lines.join("\n")
    };
    insta::assert_snapshot!("asked-mysql-5.0.21", told("mysql-5.0.21"));
    insta::assert_snapshot!("asked-mysql-5.7.22", told("mysql-5.7.22"));
    insta::assert_snapshot!("asked-mysql-9.7", told("mysql-9.7"));
    insta::assert_snapshot!("asked-mariadb-10.11", told("mariadb-10.11"));
}

#[test]
fn what_a_version_lacks_may_be_asked_to_be_off() {
    let off = config(&[("performance_schema", IntentValue::Flag(false))], &[]);
    let plain = render("mysql-5.0.21", Engine::Innodb, &Config::default()).unwrap();
    let asked = render("mysql-5.0.21", Engine::Innodb, &off).unwrap();
    assert_eq!(asked, plain);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn errors_name_version_intent_and_choices() {
    let error = |id, engine, intents: &[(&str, IntentValue)], raw: &[(&str, &str)]| {
        render(id, engine, &config(intents, raw))
            .unwrap_err()
            .to_string()
    };
    let on = IntentValue::Flag(true);
    for (message, expected) in [
        (
            error(
                "mysql-5.0.21",
                Engine::Innodb,
                &[("performance_schema", on.clone())],
                &[],
            ),
            "mysql-5.0.21 (5.0.21) can't honour performance_schema = on: it can be off",
        ),
        (
            error(
                "mysql-5.0.21",
                Engine::Innodb,
                &[("charset", IntentValue::Text("utf8mb4".into()))],
                &[],
            ),
            "mysql-5.0.21 (5.0.21) can't honour charset = utf8mb4: it can be latin1 or \
             utf8mb3",
        ),
        (
            error(
                "mysql-9.7",
                Engine::Innodb,
                &[("query_cache", on.clone())],
                &[],
            ),
            "mysql-9.7 (9.7.0) can't honour query_cache = on: it can be off",
        ),
        (
            error(
                "mysql-9.7",
                Engine::Innodb,
                &[("flush_at_commit", IntentValue::Number(3))],
                &[],
            ),
            "mysql-9.7 (9.7.0) can't honour flush_at_commit = 3: it can be 0 or 1 or 2",
        ),
        (
            error(
                "mysql-9.7",
                Engine::Innodb,
                &[("buffer_pool", on.clone())],
                &[],
            ),
            "the intent `buffer_pool` takes a size",
        ),
        (
            error("mysql-9.7", Engine::Rocksdb, &[], &[]),
            "mysql-9.7 has no engine rocksdb; it has innodb, myisam, memory",
        ),
        (
            error("mysql-9.7", Engine::Innodb, &[], &[("a", "1\nb=2")]),
            "the raw option `a` must be a name and a value of one line each",
        ),
        (
            error("mysql-9.7", Engine::Innodb, &[], &[("a b", "1")]),
            "the raw option `a b` must be a name and a value of one line each",
        ),
        (
            error("mysql-9.7", Engine::Innodb, &[], &[("DataDir", "/")]),
            "the raw option `DataDir` is set by Prony itself: remove it",
        ),
        (
            error(
                "mysql-9.7",
                Engine::Innodb,
                &[],
                &[("loose-log-error", "x")],
            ),
            "the raw option `loose-log-error` is set by Prony itself: remove it",
        ),
    ] {
        assert_eq!(message, expected);
    }
    let message = error("mysql-9.7", Engine::Innodb, &[("bufferpool", on)], &[]);
    let rest = message.strip_prefix("there is no intent `bufferpool`; there are ");
    let facts = Catalogue::embedded().unwrap().intent_facts();
    let names: Vec<_> = facts.iter().map(|facts| facts.name.as_str()).collect();
    assert_eq!(rest, Some(names.join(", ").as_str()), "{message}");
}

#[test]
fn raw_options_come_last_and_replace() {
    let raw = config(
        &[],
        &[
            ("innodb-buffer-pool-size", "1G"),
            ("skip-symbolic-links", ""),
        ],
    );
    let rendered = render("mysql-5.7.22", Engine::Innodb, &raw).unwrap();
    let text = rendered.text();
    assert!(text.ends_with(
        "# raw: raw option of the experiment\ninnodb-buffer-pool-size=1G\nskip-symbolic-links\n"
    ));
    assert!(!text.contains("innodb_buffer_pool_size"), "{text}");
}

#[test]
fn raw_options_do_not_meet_intents() {
    let pool = [("buffer_pool", IntentValue::Bytes(1 << 30))];
    let refused = |engine, config: &Config| {
        let error = render("mariadb-10.11", engine, config).unwrap_err();
        error.to_string()
    };
    for name in ["innodb_buffer_pool_size", "loose-Innodb-buffer-pool-size"] {
        assert_eq!(
            refused(Engine::Innodb, &config(&pool, &[(name, "1G")])),
            format!(
                "the raw option `{name}` sets what the intent `buffer_pool` sets: remove one of \
                 the two"
            )
        );
    }
    let log = [("binlog", IntentValue::Flag(true))];
    let both = config(&log, &[("skip-log-bin", "")]);
    assert!(refused(Engine::Innodb, &both).contains("`binlog`"));

    // Intents share the option: it would replace settings of all of them.
    let families = [("rocksdb_default_cf_options", "write_buffer_size=4194304")];
    let message = refused(Engine::Rocksdb, &config(&[], &families));
    let begin = "the raw option `rocksdb_default_cf_options` sets what the intents \
                 `rocksdb_memtable`, `rocksdb_l0_files`, ";
    assert!(message.starts_with(begin), "{message}");
    let end = "`rocksdb_bloom_bits` set together: use these in place of the raw option";
    assert!(message.ends_with(end), "{message}");
    // As shipped, nothing is in it unless an intent is asked for.
    let alone = shipped(config(&[], &families));
    assert!(render("mariadb-10.11", Engine::Rocksdb, &alone).is_ok());
    let levels = [("rocksdb_dynamic_levels", IntentValue::Flag(true))];
    let both = shipped(config(&levels, &families));
    let expected = "sets what the intent `rocksdb_dynamic_levels` sets: remove";
    assert!(refused(Engine::Rocksdb, &both).contains(expected));
}

#[test]
fn intents_of_memtables_and_levels_are_parts_of_one_option() {
    let asked = shipped(config(
        &[
            ("rocksdb_memtables", IntentValue::Number(4)),
            ("rocksdb_dynamic_levels", IntentValue::Flag(true)),
            ("rocksdb_filters_for_hits", IntentValue::Flag(false)),
        ],
        &[],
    ));
    let rendered = render("mariadb-10.11", Engine::Rocksdb, &asked).unwrap();
    let expected = "rocksdb_default_cf_options=max_write_buffer_number=4;\
                    level_compaction_dynamic_level_bytes=true;optimize_filters_for_hits=false";
    let lines: Vec<_> = rendered.options.iter().map(line).collect();
    assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
}

#[test]
fn an_intent_replaces_the_table_cache_that_grows_with_clients() {
    let asked = config(&[("table_cache", IntentValue::Number(400))], &[]);
    for (id, name) in [
        ("mysql-5.0.21", "table_cache"),
        ("mysql-5.6.24", "table_open_cache"),
    ] {
        let rendered = render(id, Engine::Innodb, &asked).unwrap();
        let is_cache = |option: &&RenderedOption| option.name == name;
        let caches: Vec<_> = rendered.options.iter().filter(is_cache).map(line).collect();
        assert_eq!(caches, [format!("{name}=400")]);
    }
}

#[test]
fn connections_follow_the_clients_in_steps() {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.get("mysql-8.0.31").unwrap().facts();
    let with = |clients| {
        catalogue
            .render(
                &facts,
                Wanted::over_socket(Engine::Innodb, &Config::default(), clients),
            )
            .unwrap()
    };
    assert_eq!(with(1).hash(), with(48).hash());
    assert_ne!(with(48).hash(), with(49).hash());
    assert!(with(1000).text().contains("max_connections=1024\n"));
}

#[test]
fn asking_for_the_baseline_changes_no_hash() {
    let asked = config(&[("buffer_pool", IntentValue::Bytes(128 << 20))], &[]);
    let plain = render("mysql-8.0.31", Engine::Innodb, &Config::default()).unwrap();
    let same = render("mysql-8.0.31", Engine::Innodb, &asked).unwrap();
    assert_eq!(plain.hash(), same.hash());
    assert_ne!(plain.text(), same.text());
}

#[test]
fn processes_are_set_up_without_another_hash() {
    let text = |text: &str| IntentValue::Text(text.into());
    let asked = config(
        &[
            ("allocator", text("jemalloc")),
            ("huge_pages", text("never")),
        ],
        &[],
    );
    let plain = render("mysql-8.0.31", Engine::Innodb, &Config::default()).unwrap();
    let set_up = render("mysql-8.0.31", Engine::Innodb, &asked).unwrap();
    assert_eq!(plain.process, ProcessSettings::default());
    assert_eq!(set_up.process.allocator, Allocator::Jemalloc);
    assert_eq!(set_up.process.huge_pages, HugePages::Never);
    assert_eq!(plain.hash(), set_up.hash());
}

#[test]
fn encryption_and_network_are_there_when_asked_for() {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.get("mysql-8.0.31").unwrap().facts();
    let asked = config(&[("tls", IntentValue::Flag(true))], &[]);
    let wanted = Wanted {
        transport: Transport::Tcp,
        ..Wanted::over_socket(Engine::Innodb, &asked, 4)
    };
    let rendered = catalogue.render(&facts, wanted).unwrap();
    let text = rendered.text();
    assert!(rendered.tls && rendered.transport == Transport::Tcp);
    assert!(!text.contains("skip-networking"), "{text}");
    assert!(!text.contains("rsa_keys=OFF"), "{text}");
    assert!(text.contains("tls_version=TLSv1.2"), "{text}");
}

#[test]
fn a_build_can_lack_what_its_version_has() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut facts = catalogue.get("mysql-9.7").unwrap().facts();
    facts.lacks = vec!["tls".into(), "allocator".into()];
    let render = |config: &Config| {
        let wanted = Wanted::over_socket(Engine::Innodb, config, 4);
        catalogue.render(&facts, wanted)
    };
    let plain = render(&Config::default()).unwrap();
    assert!(!plain.text().contains("tls_version"));
    let off = config(&[("tls", IntentValue::Flag(false))], &[]);
    assert_eq!(render(&off).unwrap(), plain);
    let on = config(&[("tls", IntentValue::Flag(true))], &[]);
    assert_eq!(
        render(&on).unwrap_err().to_string(),
        "mysql-9.7 (9.7.0) can't honour tls = on: this build was made without it; it can be off"
    );
}

#[test]
fn what_brings_an_engine_comes_first() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut facts = catalogue.get("mariadb-10.11").unwrap().facts();
    facts.engines.push(Engine::Rocksdb);
    let load = vec!["plugin-load-add=ha_rocksdb.so".to_owned()];
    facts.engine_options = [(Engine::Rocksdb, load)].into();
    let config = Config::default();
    let first = |engine| {
        let wanted = Wanted::over_socket(engine, &config, 4);
        let rendered = catalogue.render(&facts, wanted).unwrap();
        rendered.options[0].name.clone()
    };
    assert_eq!(first(Engine::Rocksdb), "plugin-load-add");
    assert_ne!(first(Engine::Innodb), "plugin-load-add");
}

/// A misspelt intent would make every difference of its variable an unexplained one.
#[test]
fn the_table_of_variables_names_intents_that_there_are() {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.intent_facts();
    for intent in prony_equality::VariableTable::embedded().unwrap().intents() {
        assert!(facts.iter().any(|facts| facts.name == intent), "{intent}");
    }
}

#[test]
fn open_tables_grow_with_clients_and_tables() {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.get("mysql-8.0.31").unwrap().facts();
    let size_of = |name: &str, clients_max: u32, tables: u32| {
        let plain = Config::default();
        let wanted = Wanted {
            tables,
            ..Wanted::over_socket(Engine::Innodb, &plain, clients_max)
        };
        let rendered = catalogue.render(&facts, wanted).unwrap();
        let mut options = rendered.options.into_iter();
        let option = options.find(|option| option.name == name);
        option.unwrap().value.unwrap()
    };
    let size = |clients_max, tables| size_of("table_open_cache", clients_max, tables);
    assert_eq!(size(8, 8), "2000");
    assert_eq!(size(1_000, 8), "9000");
    assert_eq!(size(100_000, 10_000), "500000");
    // A file is open once for all clients.
    let files = |clients_max, tables| size_of("innodb_open_files", clients_max, tables);
    assert_eq!(files(1_000, 100), "2000");
    assert_eq!(files(8, 5_000), "6000");
}

/// A published study could not run its old versions, because they refuse a redo log of the size
/// that the new ones were given.
#[test]
fn a_redo_log_that_an_old_version_refuses_is_as_large_as_it_takes_if_that_is_allowed() {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.get("mysql-5.5.34").unwrap().facts();
    let render = |bytes: u64, allow: &[String]| {
        let asked = config(&[("redo_log", IntentValue::Bytes(bytes))], &[]);
        let wanted = Wanted {
            allow,
            ..Wanted::over_socket(Engine::Innodb, &asked, 4)
        };
        catalogue.render(&facts, wanted)
    };
    let file_size = |rendered: &Rendered| {
        let mut options = rendered.options.iter();
        let option = options.find(|option| option.name == "innodb_log_file_size");
        option.unwrap().value.clone().unwrap()
    };
    // One file of 4000M would be refused; two of half the size are not.
    let split = render(4_000 << 20, &[]).unwrap();
    assert_eq!(file_size(&split), (2_000_u64 << 20).to_string());
    let error = render(8_000 << 20, &[]).unwrap_err().to_string();
    assert!(error.contains("8000M: it can be 8M to 4094M"), "{error}");
    let limited = render(8_000 << 20, &["redo_log".to_owned()]).unwrap();
    assert_eq!(file_size(&limited), (2_047_u64 << 20).to_string());
}

#[test]
fn what_a_version_lacks_is_left_out_if_that_is_allowed() {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.get("mysql-5.0.21").unwrap().facts();
    let asked = config(&[("performance_schema", IntentValue::Flag(true))], &[]);
    let wanted = Wanted::over_socket(Engine::Innodb, &asked, 4);
    assert!(catalogue.render(&facts, wanted).is_err());
    let allow = ["performance_schema".to_owned()];
    let wanted = Wanted {
        allow: &allow,
        ..wanted
    };
    let rendered = catalogue.render(&facts, wanted).unwrap();
    let said = rendered.text();
    assert!(!said.contains("performance_schema"), "{said}");
}

#[test]
fn intents_of_an_engine_are_for_its_tables() {
    let asked = config(&[("rocksdb_memtable", IntentValue::Bytes(256 << 20))], &[]);
    let rendered = render("mariadb-10.11", Engine::Rocksdb, &asked).unwrap();
    let mut options = rendered.options.iter();
    let one = options.find(|option| option.name == "rocksdb_default_cf_options");
    let one = one.unwrap();
    assert_eq!(one.origin, OptionOrigin::Intent);
    assert_eq!(one.intent.as_deref(), Some("rocksdb_memtable"));
    let value = one.value.as_deref().unwrap();
    let begin = "write_buffer_size=268435456;level0_file_num_compaction_trigger=4;";
    assert!(value.starts_with(begin), "{value}");
    assert_eq!(
        render("mariadb-10.11", Engine::Innodb, &asked)
            .unwrap_err()
            .to_string(),
        "mariadb-10.11 (10.11.0) can't honour rocksdb_memtable = 256M: it is for tables of \
         rocksdb; leave the intent out for tables of innodb"
    );
}

#[test]
fn a_later_option_replaces_an_earlier_one_of_its_name() {
    let asked = config(
        &[("collation", IntentValue::Text("latin1_bin".into()))],
        &[],
    );
    let rendered = render("mysql-5.7.22", Engine::Innodb, &asked).unwrap();
    let text = rendered.text();
    assert_eq!(text.matches("collation-server=").count(), 1, "{text}");
    assert!(text.contains("collation-server=latin1_bin\n"), "{text}");
}

#[test]
fn the_documentation_has_every_intent() {
    let text = include_str!("../../../../../catalog/README.md");
    for intent in &Catalogue::embedded().unwrap().intents.intents {
        let kind = match intent.kind {
            IntentKind::Flag => "flag",
            IntentKind::Number => "number",
            IntentKind::Bytes => "bytes",
            IntentKind::Text => "text",
        };
        let baseline = |family| intent.baseline(family).as_ref().map(ToString::to_string);
        let of_both = |general: String, own: String| {
            if own == general {
                return own;
            }
            format!("{general}; PostgreSQL: {own}")
        };
        let values = [Family::Mysql, Family::Postgresql].map(baseline);
        let [general, own] = values.map(|value| value.unwrap_or_else(|| "—".to_owned()));
        let begin = format!("| `{}` | {kind} | {} |", intent.name, of_both(general, own));
        let [general, own] =
            [Family::Mysql, Family::Postgresql].map(|family| intent.because(family).to_owned());
        let because = of_both(general, own);
        let end = format!("| {because} |");
        let fits =
            |line: &str| line.starts_with(&begin) && (because.is_empty() || line.ends_with(&end));
        assert!(text.lines().any(fits), "{begin} … {end}");
    }
}

#[test]
fn what_an_instance_sets_is_reached_under_no_name() {
    let catalogue = Catalogue::embedded().unwrap();
    let build = catalogue.get("mysql-5.7.22").unwrap().facts();
    let refused = |name: &str| {
        let config = config(&[], &[(name, "0")]);
        let wanted = Wanted::over_socket(Engine::Innodb, &config, 1);
        matches!(
            catalogue.render(&build, wanted),
            Err(RenderError::RawReserved(_))
        )
    };
    for name in [
        "skip-networking",
        "loose-skip_networking",
        "Loose-Skip-Networking",
        "enable-skip-networking",
        "disable-networking",
        "skip-networkin",
        "skip-name-resolve",
        "skip-bind-address",
        "bind-addr",
        "maximum-port",
        "ssl-ca",
        "innodb_data_home_dir",
        "plugin-dir",
        "rocksdb_wal_dir",
        "datadir",
    ] {
        assert!(refused(name), "{name}");
    }
    for name in [
        "innodb",
        "ssl",
        "log",
        "port-open-timeout",
        "skip-external-locking",
        "loose-innodb_log_buffer_size",
    ] {
        assert!(!refused(name), "{name}");
    }
}
