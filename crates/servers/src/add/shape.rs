//! From the files and the help text of a server to its catalogue entry: how a data directory is
//! made, and which of its files it must be told the place of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::tree::Tree;
use crate::build::catalogue::Bootstrap;

/// Folders of server programs, relative to the folder that is added.
const PLACES: [&str; 6] = ["bin", "sbin", "libexec", "usr/sbin", "usr/libexec", ""];
/// Their names, the newer one first.
const NAMES: [&str; 2] = ["mariadbd", "mysqld"];
/// The beginning of the names of its scripts.
const PREFIXES: [&str; 2] = ["mariadb_", "mysql_"];
/// The MyRocks plugin.
const ROCKSDB: &str = "ha_rocksdb.so";

/// Finds the server program.
pub(super) fn program(tree: &Tree) -> Option<PathBuf> {
    let candidates = PLACES
        .iter()
        .flat_map(|place| NAMES.iter().map(|name| Path::new(place).join(name)));
    candidates.into_iter().find(|path| tree.has(path))
}

/// A server's help text, as a source of facts about its version.
#[derive(Debug, Clone, Copy)]
pub(super) struct Help<'a>(pub(super) &'a str);

impl Help<'_> {
    /// True for an option that the server knows; it writes `-` and `_` alike.
    fn knows(self, option: &str) -> bool {
        self.0.lines().any(|line| {
            // Some have a short form before the long one: `  -b, --basedir=name`.
            let line = line.trim_start();
            let long = match line.as_bytes() {
                [b'-', _, b',', b' ', ..] => &line[4..],
                _ => line,
            };
            let Some(line) = long.strip_prefix("--") else {
                return false;
            };
            let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
            // Some take a value that can be left out: `--name[=#]`.
            line[..end.unwrap_or(line.len())].replace('_', "-") == option
        })
    }

    /// True for a server that was built with an encryption library.
    pub(super) fn encrypts(self) -> bool {
        self.knows("ssl") || self.knows("ssl-ca")
    }
}

/// The way to make a data directory, if one is found.
pub(super) fn bootstrap(tree: &Tree, help: Help<'_>) -> Option<Bootstrap> {
    if help.knows("initialize-insecure") {
        return Some(Bootstrap::InitializeInsecure);
    }
    scripts(tree)
        .map(Bootstrap::Sql)
        .or_else(|| template(tree).map(Bootstrap::Template))
}

/// The scripts that make the system tables, in the order in which they are run.
fn scripts(tree: &Tree) -> Option<Vec<PathBuf>> {
    let (prefix, folder) = PREFIXES.iter().find_map(|prefix| {
        let first = tree.find(&format!("{prefix}system_tables.sql"))?;
        Some((prefix, first.parent()?))
    })?;
    let own = |name: &str| folder.join(format!("{prefix}{name}.sql"));
    let all = [
        own("system_tables"),
        own("performance_tables"),
        own("system_tables_data"),
        folder.join("fill_help_tables.sql"),
        folder.join("maria_add_gis_sp_bootstrap.sql"),
        own("sys_schema"),
    ];
    // A version lacks some of them, but the one with the first accounts is there in all.
    let complete = tree.has(&all[2]);
    complete.then(|| all.into_iter().filter(|path| tree.has(path)).collect())
}

/// A data directory that exists already.
fn template(tree: &Tree) -> Option<PathBuf> {
    let table = tree.find("mysql/user.frm")?;
    Some(table.parent()?.parent()?.to_owned())
}

/// The server options that are paths.
pub(super) fn locations(tree: &Tree, program: &Path, help: Help<'_>) -> BTreeMap<String, PathBuf> {
    let mut locations = BTreeMap::from([("basedir".to_owned(), base(program))]);
    let mut set = |option: &str, path: Option<&Path>| {
        if let Some(path) = path {
            locations.insert(option.to_owned(), path.to_owned());
        }
    };
    let english = tree.find("english/errmsg.sys").and_then(Path::parent);
    if help.knows("lc-messages-dir") {
        set("lc-messages-dir", english.and_then(Path::parent));
    } else {
        set("language", english);
    }
    let charsets = tree.find("charsets/Index.xml").and_then(Path::parent);
    set("character-sets-dir", charsets);
    if help.knows("plugin-dir") {
        set("plugin-dir", tree.library_folder("plugin"));
    }
    locations
}

/// The folder above the one that the program lies in.
fn base(program: &Path) -> PathBuf {
    let base = program.parent().and_then(Path::parent);
    match base {
        Some(base) if base != Path::new("") => base.to_owned(),
        _ => ".".into(),
    }
}

/// The options that load MyRocks, if the plugin is there.
pub(super) fn rocksdb(tree: &Tree) -> Option<Vec<String>> {
    tree.find(ROCKSDB)
        .map(|_| vec![format!("plugin-load-add={ROCKSDB}")])
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Help<'_> = Help("  -L, --language=name \n  -b, --basedir=name\n");
    const NEW: Help<'_> = Help(
        "  --initialize-insecure \n  -L, --lc-messages-dir=name\n  --plugin-dir=name\n  --ssl-ca=name\n",
    );
    const MARIADB: Help<'_> = Help("  --lc_messages_dir=name\n  --plugin-dir=name\n  --ssl\n");

    #[test]
    fn programs_in_their_places() {
        for (files, found) in [
            (vec!["bin/mysqld", "bin/mysql"], Some("bin/mysqld")),
            (vec!["bin/mysqld", "bin/mariadbd"], Some("bin/mariadbd")),
            (vec!["usr/sbin/mariadbd"], Some("usr/sbin/mariadbd")),
            (vec!["mysqld", "share/x"], Some("mysqld")),
            (vec!["bin/mysqld-debug", "share/mysqld"], None),
        ] {
            assert_eq!(program(&Tree::of(&files)), found.map(PathBuf::from));
        }
    }

    #[test]
    fn a_server_that_initializes_itself() {
        let tree = Tree::of(&[
            "bin/mysqld",
            "lib/plugin/ha_rocksdb.so",
            "share/charsets/Index.xml",
            "share/english/errmsg.sys",
            "share/mysql_system_tables.sql",
        ]);
        assert_eq!(bootstrap(&tree, NEW), Some(Bootstrap::InitializeInsecure));
        let locations = locations(&tree, Path::new("bin/mysqld"), NEW);
        let expected = [
            ("basedir", "."),
            ("character-sets-dir", "share/charsets"),
            ("lc-messages-dir", "share"),
            ("plugin-dir", "lib/plugin"),
        ];
        let expected = expected.map(|(option, path)| (option.to_owned(), path.into()));
        assert_eq!(locations, BTreeMap::from(expected));
        assert_eq!(rocksdb(&tree).unwrap(), ["plugin-load-add=ha_rocksdb.so"]);
        assert!(NEW.encrypts() && MARIADB.encrypts() && !OLD.encrypts());
    }

    #[test]
    fn a_server_with_scripts() {
        let tree = Tree::of(&[
            "usr/sbin/mariadbd",
            "usr/share/mariadb/mariadb_system_tables.sql",
            "usr/share/mariadb/mariadb_system_tables_data.sql",
            "usr/share/mariadb/fill_help_tables.sql",
            "usr/share/mariadb/mariadb_sys_schema.sql",
        ]);
        let Some(Bootstrap::Sql(files)) = bootstrap(&tree, MARIADB) else {
            panic!("no scripts");
        };
        let names: Vec<_> = files
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "mariadb_system_tables.sql",
                "mariadb_system_tables_data.sql",
                "fill_help_tables.sql",
                "mariadb_sys_schema.sql"
            ]
        );
        let base = &locations(&tree, Path::new("usr/sbin/mariadbd"), MARIADB)["basedir"];
        assert_eq!(base, Path::new("usr"));
    }

    #[test]
    fn a_server_with_a_prebuilt_data_directory() {
        let tree = Tree::of(&[
            "bin/mysqld",
            "data/mysql/user.frm",
            "share/english/errmsg.sys",
        ]);
        assert_eq!(
            bootstrap(&tree, OLD),
            Some(Bootstrap::Template("data".into()))
        );
        let locations = locations(&tree, Path::new("bin/mysqld"), OLD);
        assert_eq!(locations["language"], Path::new("share/english"));
        assert_eq!(bootstrap(&Tree::of(&["bin/mysqld"]), OLD), None);
    }
}
