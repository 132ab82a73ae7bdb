//! The accounts of a new data directory.

use std::net::IpAddr;

use prony_client::{ClientError, Connection};
use prony_host::IoError;
use prony_wire::codes;

use super::statement::pairs;
use crate::digest::random;

/// The load generator's account, and the database that it may use.
pub(crate) const LOAD_USER: &str = "prony";
/// The administrator's account.
pub(crate) const ADMIN_USER: &str = "root";
/// The hosts that the load's account connects from: the unix socket, and TCP without resolved
/// names.
const LOAD_HOSTS: [&str; 2] = ["localhost", "127.0.0.1"];
/// Extensions of PostgreSQL that tell what an engine has put off.
const EXTENSIONS: [&str; 3] = ["pageinspect", "pg_buffercache", "pg_visibility"];

/// A password for the load generator's account: 32 hexadecimal digits, so that it needs no quoting.
pub(crate) fn new_password() -> Result<String, IoError> {
    Ok(format!("{:032x}", random()?))
}

/// Removes all accounts but the administrator's and the server's own, and makes those and the
/// database for the load. A data directory that was used before may have brought some.
pub(crate) fn set_up(admin: &mut Connection, password: &str) -> Result<(), ClientError> {
    if admin.is_postgresql() {
        return set_up_postgres(admin, password);
    }
    let accounts = admin.query("SELECT User, Host FROM mysql.user")?;
    for (user, host) in pairs(accounts) {
        if !is_kept(&user, &host) {
            remove(admin, &user, &host)?;
        }
    }
    // Prebuilt data directories let all accounts use databases whose names begin with test.
    admin.query("DELETE FROM mysql.db WHERE User = ''")?;
    admin.query("FLUSH PRIVILEGES")?;
    admin.query(format!("CREATE DATABASE {LOAD_USER}"))?;
    LOAD_HOSTS
        .iter()
        .try_for_each(|host| make_account(admin, host, password))
}

/// Makes the load's account and its database, with the extensions that settling uses. They
/// are made in the administrator's database, of which the load's is a copy.
fn set_up_postgres(admin: &mut Connection, password: &str) -> Result<(), ClientError> {
    let available = admin.query(format!(
        "SELECT name FROM pg_available_extensions WHERE name IN ('{}')",
        EXTENSIONS.join("', '")
    ))?;
    for (name, _) in pairs(available) {
        admin.query(format!("CREATE EXTENSION {name}"))?;
    }
    for statement in [
        format!("CREATE ROLE {LOAD_USER} LOGIN PASSWORD '{password}'"),
        format!("CREATE DATABASE {LOAD_USER} OWNER {LOAD_USER} TEMPLATE postgres"),
    ] {
        admin.query(statement)?;
    }
    Ok(())
}

/// Makes the load's account for connections from another host. Where they have to be `encrypted`, others
/// are refused; every version that offers TLS 1.2 can be told so by `ALTER USER`.
pub(crate) fn admit(
    admin: &mut Connection,
    client: IpAddr,
    password: &str,
    encrypted: bool,
) -> Result<(), ClientError> {
    make_account(admin, &client.to_string(), password)?;
    if encrypted {
        admin.query(format!("ALTER USER '{LOAD_USER}'@'{client}' REQUIRE SSL"))?;
    }
    Ok(())
}

/// True for an account that stays: the administrator's, and those that the server runs its own
/// views and plugins as, which nobody can log in to.
fn is_kept(user: &str, host: &str) -> bool {
    let own = user.starts_with("mysql.") || user == "mariadb.sys";
    host == "localhost" && (user == ADMIN_USER || own)
}

/// Removes an account. 4.1 drops only those that may do nothing, and no server that resolves no
/// names drops those of named hosts; where there is a table of accounts, they are deleted from it.
fn remove(admin: &mut Connection, user: &str, host: &str) -> Result<(), ClientError> {
    let host = host.replace('\\', "\\\\").replace('\'', "\\'");
    let delete = format!("DELETE FROM mysql.user WHERE User = '{user}' AND Host = '{host}'");
    let outcome = match admin.query(format!("DROP USER '{user}'@'{host}'")) {
        Err(ClientError::Server { .. }) => admin.query(delete),
        outcome => outcome,
    };
    outcome.map(drop)
}

/// Makes the load's account for connections from `host`. `CREATE USER` came with 5.0; before it
/// `GRANT` made accounts, which servers since 8.0 no longer do.
fn make_account(admin: &mut Connection, host: &str, password: &str) -> Result<(), ClientError> {
    let account = format!("'{LOAD_USER}'@'{host}'");
    let identified = format!("IDENTIFIED BY '{password}'");
    let grant = format!("GRANT ALL ON {LOAD_USER}.* TO {account}");
    match admin.query(format!("CREATE USER {account} {identified}")) {
        Ok(_) => admin.query(grant)?,
        Err(ClientError::Server { code, .. }) if code == codes::PARSE_ERROR.into() => {
            admin.query(format!("{grant} {identified}"))?
        }
        Err(error) => return Err(error),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_kept;

    #[test]
    fn only_the_administrator_and_the_server_itself_stay() {
        for (user, host, kept) in [
            ("root", "localhost", true),
            ("mysql.sys", "localhost", true),
            ("mysql.infoschema", "localhost", true),
            ("mariadb.sys", "localhost", true),
            ("root", "127.0.0.1", false),
            ("root", "%", false),
            ("mysql.sys", "%", false),
            ("mysql", "localhost", false),
            ("", "localhost", false),
            ("prony", "localhost", false),
            ("somebody", "%", false),
        ] {
            assert_eq!(is_kept(user, host), kept, "{user}@{host}");
        }
    }
}
