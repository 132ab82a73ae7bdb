//! Account of a connection.

use std::fmt;

use prony_model::{Family, Tls};

/// Account of a connection. The password is in no debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The family of the server, which decides the protocol.
    pub family: Family,
    /// The account's name.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// The default database.
    pub database: Option<String>,
    /// Encryption.
    pub tls: Tls,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_do_not_show() {
        let login = Login {
            family: Family::Mysql,
            user: "prony".into(),
            password: "secret".into(),
            database: None,
            tls: Tls::Off,
        };
        let shown = format!("{login:?}");
        assert!(
            shown.contains("prony") && !shown.contains("secret"),
            "{shown}"
        );
    }
}
