//! The configuration of PostgreSQL.

use super::*;

fn heap(id: &str, config: &Config) -> Result<Rendered, RenderError> {
    render(id, Engine::Heap, config)
}

fn text(word: &str) -> IntentValue {
    IntentValue::Text(word.to_owned())
}

/// The value of an option.
fn value<'r>(rendered: &'r Rendered, name: &str) -> Option<&'r str> {
    let mut options = rendered.options.iter();
    let option = options.find(|option| option.name == name)?;
    option.value.as_deref()
}

#[test]
fn the_baseline_of_every_build() {
    let catalogue = Catalogue::embedded().unwrap();
    for entry in catalogue.entries() {
        if entry.family == Family::Postgresql {
            let rendered = heap(&entry.id, &Config::default()).unwrap();
            let lines = rendered.lines(|value| format!("'{value}'"));
            insta::assert_snapshot!(format!("baseline-{}", entry.id), lines);
        }
    }
}

#[test]
fn shipped_settings_are_left_alone() {
    let asked = shipped(config(
        &[("buffer_pool", IntentValue::Bytes(256 << 20))],
        &[],
    ));
    let told = ["postgresql-9.6.24", "postgresql-18.6"].map(|id| {
        let rendered = heap(id, &asked).unwrap();
        let lines: Vec<_> = rendered.options.iter().map(line).collect();
        format!("{id}:\n{}\n", lines.join("\n"))
    });
    insta::assert_snapshot!("shipped", told.join("\n"));
}

#[test]
fn what_a_data_directory_is_made_with_is_in_its_hash() {
    let words = |rendered: &Rendered| rendered.initdb_words().collect::<Vec<_>>();
    let plain = heap("postgresql-18.6", &Config::default()).unwrap();
    let [locale, latin1] = ["--locale=C", "--encoding=LATIN1"];
    assert_eq!(words(&plain), [locale, latin1, "--no-data-checksums"]);
    let asked = config(
        &[
            ("page_checksum", text("crc32")),
            ("charset", text("utf8mb4")),
        ],
        &[],
    );
    let other = heap("postgresql-18.6", &asked).unwrap();
    assert_eq!(
        words(&other),
        [locale, "--encoding=UTF8", "--data-checksums"]
    );
    assert_ne!(plain.hash(), other.hash());
    // Before 18 they are off unless they are asked for.
    let older = heap("postgresql-17.11", &Config::default()).unwrap();
    assert_eq!(words(&older), [locale, latin1]);
    let as_shipped = heap("postgresql-18.6", &shipped(Config::default())).unwrap();
    assert_eq!(words(&as_shipped), [locale, "--encoding=UTF8"]);
    // They are no lines for the server.
    let lines = plain.lines(str::to_owned);
    let of_initdb = lines.lines().filter(|line| line.contains("initdb:"));
    assert!(of_initdb.clone().count() == 3 && of_initdb.clone().all(|line| line.starts_with("# ")));
}

/// A checkpoint begins after `max_wal_size` / (2 + `checkpoint_completion_target`) until 10, and / (1 + …) from
/// 11 on; both are counted in whole files of 16M.
#[test]
fn checkpoints_are_as_far_apart_in_every_version() {
    let files = |id: &str, log: u64| {
        let asked = config(&[("redo_log", IntentValue::Bytes(log))], &[]);
        let rendered = heap(id, &asked).unwrap();
        let most = value(&rendered, "max_wal_size").unwrap();
        let most: u64 = most.strip_suffix("MB").unwrap().parse().unwrap();
        most / 16
    };
    for log in [1, 2, 6, 10, 19, 29, 64, 1000, 65536] {
        assert_eq!(files("postgresql-10.23", log << 24) * 10 / 29, log);
        assert_eq!(files("postgresql-11.22", log << 24) * 10 / 19, log);
    }
}

#[test]
fn what_versions_and_builds_can_not_be_told() {
    let refused = |id: &str, name: &str, value: IntentValue| {
        let error = heap(id, &config(&[(name, value)], &[])).unwrap_err();
        error.to_string()
    };
    let on = || IntentValue::Flag(true);
    for (message, expected) in [
        (
            refused("postgresql-18.6", "query_cache", on()),
            "postgresql-18.6 (18.6.0) can't honour query_cache = on: it has no such feature; \
             remove the intent for it",
        ),
        (
            refused("postgresql-10.23", "jit", on()),
            "postgresql-10.23 (10.23.0) can't honour jit = on: it can be off",
        ),
        (
            refused("postgresql-18.6", "jit", on()),
            "postgresql-18.6 (18.6.0) can't honour jit = on: this build was made without it; it \
             can be off",
        ),
        (
            refused("postgresql-18.6", "io_method", text("io_uring")),
            "postgresql-18.6 (18.6.0) can't honour io_method = io_uring: this build was made \
             without it; it can be sync or worker",
        ),
        (
            refused("postgresql-18.6", "tls", on()),
            "postgresql-18.6 (18.6.0) can't honour tls = on: it can be off",
        ),
        (
            refused("postgresql-18.6", "collation", text("latin1_swedish_ci")),
            "postgresql-18.6 (18.6.0) can't honour collation = latin1_swedish_ci: it can be C or \
             latin1_bin or utf8mb4_bin",
        ),
        (
            render(
                "mysql-8.0.31",
                Engine::Innodb,
                &config(&[("autovacuum", on())], &[]),
            )
            .unwrap_err()
            .to_string(),
            "mysql-8.0.31 (8.0.31) can't honour autovacuum = on: it has no such feature; remove \
             the intent for it",
        ),
    ] {
        assert_eq!(message, expected);
    }
    // No socket is ever encrypted; other ways are.
    let asked = config(&[("tls", on())], &[]);
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.get("postgresql-18.6").unwrap().facts();
    let wanted = Wanted {
        transport: Transport::Tcp,
        ..Wanted::over_socket(Engine::Heap, &asked, 4)
    };
    assert_eq!(
        value(&catalogue.render(&facts, wanted).unwrap(), "ssl"),
        Some("on")
    );
}

#[test]
fn families_have_their_own_baselines() {
    let facts = Catalogue::embedded().unwrap().intent_facts();
    let baseline = |name: &str, family| {
        let facts = facts.iter().find(|facts| facts.name == name).unwrap();
        let baseline = facts.baselines.get(&family)?.as_ref();
        Some(baseline.map(ToString::to_string).unwrap_or_default())
    };
    for (name, of_mysql, of_postgresql) in [
        ("isolation", Some("repeatable-read"), Some("read-committed")),
        ("page_checksum", Some("crc32"), Some("none")),
        ("page_size", Some("16K"), Some("8K")),
        ("buffer_pool", Some("128M"), Some("128M")),
        ("query_cache", Some("off"), None),
        ("autovacuum", None, Some("off")),
        ("collation", Some(""), Some("")),
    ] {
        let found = [Family::Mysql, Family::Postgresql].map(|family| baseline(name, family));
        let expected = [of_mysql, of_postgresql].map(|value| value.map(str::to_owned));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn statement_statistics_need_numbers_of_statements() {
    let asked = config(&[("statement_statistics", IntentValue::Flag(true))], &[]);
    let rendered = heap("postgresql-18.6", &asked).unwrap();
    assert_eq!(value(&rendered, "compute_query_id"), Some("on"));
    let library = value(&rendered, "shared_preload_libraries");
    assert_eq!(library, Some("pg_stat_statements"));
}

#[test]
fn what_an_instance_sets_is_not_for_experiments() {
    let refused = |name: &str| {
        let error = heap("postgresql-18.6", &config(&[], &[(name, "0")]));
        matches!(error, Err(RenderError::RawReserved(_)))
    };
    for name in [
        "port",
        "Port",
        "data_directory",
        "data-directory",
        "include_if_exists",
        "unix_socket_directories",
        "ssl_key_file",
        "logging_collector",
    ] {
        assert!(refused(name), "{name}");
    }
    for name in ["work_mem", "max_wal_size", "data", "ssl_ciphers", "user"] {
        assert!(!refused(name), "{name}");
    }
    let both = config(
        &[("buffer_pool", IntentValue::Bytes(1 << 30))],
        &[("shared_buffers", "1GB")],
    );
    let error = heap("postgresql-18.6", &both).unwrap_err().to_string();
    let expected = "the raw option `shared_buffers` sets what the intent `buffer_pool` sets: \
                    remove one of the two";
    assert_eq!(error, expected);
}
