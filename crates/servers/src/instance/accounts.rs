//! The accounts of a new data directory.

use prony_client::{ClientError, Connection};

use crate::digest::random_hex;
use crate::io_error::IoError;

/// The load generator's account, and the database that it may use.
pub(super) const LOAD_USER: &str = "prony";
/// The administrator's account.
pub(super) const ADMIN_USER: &str = "root";
/// Random bytes of the password.
const PASSWORD_BYTES: usize = 16;

/// A password for the load generator's account: hexadecimal digits, so that it needs no quoting.
pub(super) fn new_password() -> Result<String, IoError> {
    random_hex(PASSWORD_BYTES)
}

/// Removes the accounts without a name and those of other hosts, and makes the account and the
/// database for the load. Every statement is understood by all versions since 5.0.
pub(super) fn set_up(admin: &mut Connection, password: &str) -> Result<(), ClientError> {
    let accounts = admin.query("SELECT User, Host FROM mysql.user")?;
    for row in accounts.rows {
        let mut cells = row.into_iter().map(Option::unwrap_or_default);
        let (user, host) = (
            cells.next().unwrap_or_default(),
            cells.next().unwrap_or_default(),
        );
        if user.is_empty() || (user == ADMIN_USER && host != "localhost") {
            let host = host.replace('\\', "\\\\").replace('\'', "\\'");
            admin.query(format!("DROP USER '{user}'@'{host}'"))?;
        }
    }
    // Prebuilt data directories let everybody use databases whose names begin with test.
    admin.query("DELETE FROM mysql.db WHERE User = ''")?;
    admin.query("FLUSH PRIVILEGES")?;
    admin.query(format!("CREATE DATABASE {LOAD_USER}"))?;
    admin.query(format!(
        "CREATE USER '{LOAD_USER}'@'localhost' IDENTIFIED BY '{password}'"
    ))?;
    admin.query(format!(
        "GRANT ALL ON {LOAD_USER}.* TO '{LOAD_USER}'@'localhost'"
    ))?;
    Ok(())
}
