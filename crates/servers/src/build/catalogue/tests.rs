use prony_model::{Engine, Family, IntentKind, Version};

use super::*;

const GOOD: &str = r#"
[[build]]
id = "mine"
family = "mysql"
version = "8.4.5"
version_text = "8.4.5"
engines = ["innodb"]
program = "bin/mysqld"
bootstrap = "initialize-insecure"
[[build.source]]
from.path = "my-server"
"#;

/// The message for a user's file.
fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.toml"), text).unwrap();
    let error = Catalogue::embedded()
        .unwrap()
        .with_user_dir(folder.path())
        .unwrap_err();
    let folder = folder.path().to_str().unwrap();
    error.to_string().replace(folder, "DIR")
}

#[test]
fn the_embedded_catalogue_has_what_is_promised() {
    let catalogue = Catalogue::embedded().unwrap();
    let facts = catalogue.facts();
    for id in [
        "mysql-5.0.21",
        "mysql-5.5.34",
        "mysql-5.6.24",
        "mysql-5.7.22",
        "mysql-8.0.31",
        "mysql-9.7",
    ] {
        let build = facts.iter().find(|build| build.id == id).unwrap();
        assert_eq!(build.family, Family::Mysql, "{id}");
        assert!(build.engines.contains(&Engine::Myisam), "{id}");
    }
    let mariadb = catalogue.get("mariadb-10.11").unwrap();
    assert_eq!(mariadb.version, Version::new(10, 11, 0));
    assert!(mariadb.engines.contains(&Engine::Aria));
}

#[test]
fn intents_are_told_to_experiments() {
    let facts = Catalogue::embedded().unwrap().intent_facts();
    let find = |name: &str| facts.iter().find(|intent| intent.name == name).unwrap();
    assert_eq!(find("buffer_pool").kind, IntentKind::Bytes);
    assert_eq!(find("binlog").kind, IntentKind::Flag);
    assert_eq!(find("charset").choices, ["latin1", "utf8mb3", "utf8mb4"]);
}

#[test]
fn no_host_is_written_down() {
    for (name, text) in EMBEDDED {
        assert!(!text.contains("://"), "{name}");
    }
}

#[test]
fn versions_are_compared_with_what_servers_answer() {
    use entry::version_matches;
    assert!(version_matches("5.0.21-max", "5.0.21-max-log"));
    assert!(version_matches("5.7.22", "5.7.22"));
    assert!(version_matches("9.7.*", "9.7.4-2"));
    assert!(!version_matches("5.7.2", "5.7.22"));
    assert!(!version_matches("9.7.*", "9.8.0"));
    assert!(!version_matches("5.0.21", "5.0.21-max-log"));
}

#[test]
fn a_user_folder_adds_and_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let replaced = GOOD.replace("\"mine\"", "\"mysql-5.7.22\"");
    fs::write(folder.path().join("a.toml"), GOOD).unwrap();
    fs::write(folder.path().join("b.toml"), replaced).unwrap();
    fs::write(folder.path().join("notes.txt"), "not a catalogue").unwrap();
    let plain = Catalogue::embedded().unwrap();
    let count = plain.entries().len();
    let catalogue = plain.with_user_dir(folder.path()).unwrap();
    assert_eq!(catalogue.entries().len(), count + 1);
    let mine = catalogue.get("mine").unwrap();
    assert_eq!(mine.user_folder(), Some(&folder.path().join("my-server")));
    let replaced = catalogue.get("mysql-5.7.22").unwrap();
    assert_eq!(replaced.version, Version::new(8, 4, 5));
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    for (text, expected) in [
        (
            "[[build]\n".to_owned(),
            "line 1: unclosed array table, expected `]`",
        ),
        (
            GOOD.replace("program", "programme"),
            "line 8: unknown field `programme`, expected one of `id`, `family`, `version`, \
          `version_text`, `engines`, `engine_options`, `lacks`, `caution`, `compiled`, `no_valgrind`, `program`, `loader`, \
          `libraries`, `support`, `allocators`, `bootstrap`, `shutdown`, `locations`, \
          `source`",
        ),
        (
            GOOD.replace("\"innodb\"", "\"inodb\""),
            "line 7: unknown variant `inodb`, expected one of `innodb`, `myisam`, `memory`, \
          `rocksdb`, `aria`, `heap`",
        ),
        (
            GOOD.replace("[\"innodb\"]", "[]"),
            "line 2: `mine` has no engines",
        ),
        (
            GOOD.replace("\"mine\"", "\"../mine\""),
            "line 2: the id `../mine` must be letters, digits, `.`, `_` and `-`, and not begin \
          with a dot",
        ),
        (
            GOOD.replace("8.4.5\"\nv", "8.4.x\"\nv"),
            "line 5: `8.4.x` does not begin with a version such as 5.7.22 or 10.11",
        ),
        (
            GOOD.replace("bin/mysqld", "/bin/mysqld"),
            "line 2: the path `/bin/mysqld` of `mine` must lie inside its folder",
        ),
        (
            GOOD.replace("bin/mysqld", "../mysqld"),
            "line 2: the path `../mysqld` of `mine` must lie inside its folder",
        ),
        (
            GOOD.replace("from.path", "from.url"),
            "line 2: a source of `mine` has no sha256",
        ),
        (
            format!("{GOOD}sha256 = \"00\"\n"),
            "line 2: a source of `mine` can't have a sha256: it is not one file",
        ),
        (
            GOOD.replace(
                "from.path = \"my-server\"",
                "from.url = \"x\"\nsha256 = \"00\"",
            ),
            "line 2: the sha256 `00` of `mine` must be 64 lower-case hexadecimal digits",
        ),
        (
            format!("{GOOD}{GOOD}"),
            "line 13: the id `mine` is used twice",
        ),
        (
            GOOD.replace("program", "support = [\"nothing\"]\nprogram"),
            "line 2: `mine` wants the support `nothing`, which no file has",
        ),
        (
            GOOD.replace("\"initialize-insecure\"", "{ sql = [] }"),
            "line 2: `mine` bootstraps by SQL and names no file",
        ),
    ] {
        let expected = format!("read the catalogue: DIR/a.toml, {expected}");
        assert_eq!(refused(&text), expected);
    }
}

#[test]
fn what_a_build_lacks_must_be_an_intent() {
    let message = refused(&GOOD.replace("program", "lacks = [\"tsl\"]\nprogram"));
    let words = ["DIR/a.toml, line 2", "`mine` lacks `tsl`", " tls"];
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
}
