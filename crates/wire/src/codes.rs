//! Numbers of server errors that Prony acts on, by the names of the servers' documentation
//! without `ER_`.

/// A login was refused.
pub const ACCESS_DENIED_ERROR: u16 = 1045;
/// A login was refused that the account's way to authenticate does not allow.
pub const ACCESS_DENIED_NO_PASSWORD_ERROR: u16 = 1698;
/// The account may not use the database.
pub const DBACCESS_DENIED_ERROR: u16 = 1044;
/// There is no such database.
pub const BAD_DB_ERROR: u16 = 1049;
/// A key is in the table already.
pub const DUP_ENTRY: u16 = 1062;
/// The version does not know the words of the statement.
pub const PARSE_ERROR: u16 = 1064;
/// The version does not have the variable.
pub const UNKNOWN_SYSTEM_VARIABLE: u16 = 1193;
/// Another transaction held a lock for too long.
pub const LOCK_WAIT_TIMEOUT: u16 = 1205;
/// Transactions waited for each other, and the server rolled this one back.
pub const LOCK_DEADLOCK: u16 = 1213;
/// The statement can't be prepared.
pub const UNSUPPORTED_PS: u16 = 1295;
/// The server has no function of this name.
pub const SP_DOES_NOT_EXIST: u16 = 1305;
