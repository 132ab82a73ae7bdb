//! What a PostgreSQL server has of its own: files of its configuration, how its data directory is made, its
//! accounts, and how it is asked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_host::{ChildSetup, Death, IoError, write_private};

use super::{Instance, Running};
use crate::admin::accounts::ADMIN_USER;
use crate::config::render::Rendered;

/// The number in the name of its socket. Nobody listens at a port of it.
const PORT: u16 = 5432;

/// The name of its socket.
pub(super) fn socket_name() -> String {
    format!(".s.PGSQL.{PORT}")
}

/// It refuses to run as root, and has processes in sessions of their own.
pub(super) fn setup(setup: ChildSetup) -> ChildSetup {
    ChildSetup {
        not_as_root: true,
        death: Death::Quit,
        ..setup
    }
}

/// The words that make a data directory, with those of its configuration. A crash before the end leaves
/// nothing of use, so that it need not be written to the disk.
pub(super) fn initdb_words(instance: &Instance) -> Vec<PathBuf> {
    let words = ["-A", "trust", "-U", ADMIN_USER, "-N"];
    let words = words.map(PathBuf::from).into_iter();
    let configured = instance.rendered.initdb_words().map(PathBuf::from);
    let place = ["-D".into(), instance.data_dir()];
    words.chain(configured).chain(place).collect()
}

/// Writes its configuration and who may log in: everybody who can enter the folder of the socket.
pub(super) fn write_config(instance: &Instance, rendered: &Rendered) -> Result<(), IoError> {
    let accounts = instance.path("pg_hba.conf");
    write_private(&accounts, b"local all all trust\n")?;
    let names = instance.path("pg_ident.conf");
    write_private(&names, b"")?;
    let mut text = rendered.lines(quoted);
    text.push_str("# places\n");
    let folder = || instance.folder.path().to_owned();
    for (option, path) in [
        ("data_directory", instance.data_dir()),
        ("hba_file", accounts),
        ("ident_file", names),
        ("external_pid_file", instance.path("pid")),
        ("unix_socket_directories", folder()),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{option} = {}", quoted(&path.to_string_lossy()));
    }
    let _ = writeln!(text, "listen_addresses = ''\nport = {PORT}");
    write_private(&instance.config_path(), text.as_bytes())
}

/// The option that names the configuration.
pub(super) fn config_option(path: &Path) -> String {
    format!("--config-file={}", path.display())
}

/// A text as a value of the configuration: a quote is doubled, `\` begins an escape.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Makes, fills, changes and reads a table as the load's account. Returns how its rows are stored, and the
/// rows.
pub(super) fn use_table(
    server: &Running,
    limit: Duration,
) -> Result<(String, String), ClientError> {
    let mut load = Connection::connect(&server.address(), &server.load_login(), limit)?;
    load.query(
        "CREATE TABLE check_heap (id INT NOT NULL PRIMARY KEY, word CHAR(10) NOT NULL);
         INSERT INTO check_heap VALUES (2, 'two'), (1, 'one');
         UPDATE check_heap SET word = 'zwei' WHERE id = 2",
    )?;
    let rows = load.query("SELECT id || ':' || word FROM check_heap ORDER BY id")?;
    let rows = rows.rows.iter().flatten().flatten();
    let rows: Vec<&str> = rows.map(|row| row.trim_end()).collect();
    // Before access methods could be chosen there was this one.
    Ok(("heap".to_owned(), rows.join(",")))
}
