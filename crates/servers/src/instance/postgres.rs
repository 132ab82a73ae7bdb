//! What a PostgreSQL server has of its own: files of its configuration, how its data directory is made, its
//! accounts, and how it is asked.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_host::{ChildSetup, Death, IoError, write_private};

use super::{Instance, InstanceError, Running};
use crate::admin::accounts::{ADMIN_USER, LOAD_USER};
use crate::config::render::Rendered;

/// The number in the name of its socket where it has no port. Nobody listens at a port of it. It is as long
/// as those of [`super::port`], so that the path of the socket is too.
const PORT: u16 = 15_432;

/// The file that says who may log in.
const ACCOUNTS: &str = "pg_hba.conf";

/// The configuration of its library for encryption, which keeps it to TLS 1.2. Versions before 12 have no setting
/// for that. Source: `SSL_CONF_cmd(3)`, `config(5)`.
const ENCRYPTION: &str = "\
openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = limits
[limits]
MinProtocol = TLSv1.2
MaxProtocol = TLSv1.2
";

/// The name of its socket, which has the port in it.
pub(super) fn socket_name(instance: &Instance) -> String {
    format!(".s.PGSQL.{}", port(instance))
}

fn port(instance: &Instance) -> u16 {
    instance.listens_on.map_or(PORT, |address| address.port())
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

/// Writes who may log in: everybody who can enter the folder of the socket, and over TCP the load's account
/// from `client`, by its password. It is proved as the server stored it: the method `md5` stands for SCRAM too
/// where that is the version's way, so that logins cost what they cost users of the version.
pub(super) fn write_accounts(instance: &Instance, client: Option<IpAddr>) -> Result<(), IoError> {
    let mut text = "local all all trust\n".to_owned();
    if let Some(client) = client {
        let kind = match instance.certificates {
            Some(_) => "hostssl",
            None => "host",
        };
        let bits = if client.is_ipv4() { 32 } else { 128 };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{kind} {LOAD_USER} {LOAD_USER} {client}/{bits} md5");
    }
    write_private(&instance.path(ACCOUNTS), text.as_bytes())
}

/// Lets the load's account log in from another host, and from no other. Sessions that begin after this know of it:
/// the server reads who may log in before it takes the next connection.
pub(super) fn admit(
    server: &Running,
    admin: &mut Connection,
    client: IpAddr,
) -> Result<(), InstanceError> {
    write_accounts(&server.instance, Some(client))?;
    let reloaded = admin.query("SELECT pg_reload_conf()");
    reloaded
        .map(drop)
        .map_err(|source| server.account_error(&source))
}

/// Writes its configuration and who may log in. A server for another host lets nobody log in over TCP before the
/// host is known.
pub(super) fn write_config(instance: &Instance, rendered: &Rendered) -> Result<(), IoError> {
    let local = instance.listens_on.filter(|_| instance.network.is_none());
    write_accounts(instance, local.map(|address| address.ip()))?;
    let names = instance.path("pg_ident.conf");
    write_private(&names, b"")?;
    let mut text = rendered.lines(quoted);
    text.push_str("# places\n");
    let folder = || instance.folder.path().to_owned();
    for (option, path) in [
        ("data_directory", instance.data_dir()),
        ("hba_file", instance.path(ACCOUNTS)),
        ("ident_file", names),
        ("external_pid_file", instance.path("pid")),
        ("unix_socket_directories", folder()),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{option} = {}", quoted(&path.to_string_lossy()));
    }
    let address = instance.listens_on.map(|address| address.ip().to_string());
    let address = address.unwrap_or_default();
    let _ = writeln!(
        text,
        "listen_addresses = '{address}'\nport = {}",
        port(instance)
    );
    if let Some(certificates) = &instance.certificates {
        write_private(&encryption_path(instance), ENCRYPTION.as_bytes())?;
        for (option, path) in [
            ("ssl_cert_file", certificates.certificate()),
            ("ssl_key_file", certificates.key()),
        ] {
            let _ = writeln!(text, "{option} = {}", quoted(&path.to_string_lossy()));
        }
    }
    write_private(&instance.config_path(), text.as_bytes())
}

/// The variable that names the configuration of its library for encryption, where it encrypts.
pub(super) fn encryption(instance: &Instance) -> Option<(&'static str, PathBuf)> {
    let encrypts = instance.certificates.is_some();
    encrypts.then(|| ("OPENSSL_CONF", encryption_path(instance)))
}

fn encryption_path(instance: &Instance) -> PathBuf {
    instance.path("openssl.cnf")
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
