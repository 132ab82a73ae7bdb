//! Capabilities on which client and server agree.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html>

/// A set of capability flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities(pub u32);

impl Capabilities {
    /// `CLIENT_LONG_PASSWORD`, which MariaDB calls `CLIENT_MYSQL`.
    pub const LONG_PASSWORD: Self = Self(1);
    /// `CLIENT_LONG_FLAG`: column flags of two bytes.
    pub const LONG_FLAG: Self = Self(1 << 2);
    /// `CLIENT_CONNECT_WITH_DB`: the login names a database.
    pub const CONNECT_WITH_DB: Self = Self(1 << 3);
    /// `CLIENT_LOCAL_FILES`: the server may ask for rows that the client has.
    pub const LOCAL_FILES: Self = Self(1 << 7);
    /// `CLIENT_PROTOCOL_41`.
    pub const PROTOCOL_41: Self = Self(1 << 9);
    /// `CLIENT_SSL`: the connection goes on in TLS before the login.
    pub const SSL: Self = Self(1 << 11);
    /// `CLIENT_TRANSACTIONS`: answers carry status flags.
    pub const TRANSACTIONS: Self = Self(1 << 13);
    /// `CLIENT_SECURE_CONNECTION`: passwords as 4.1 hashes them.
    pub const SECURE_CONNECTION: Self = Self(1 << 15);
    /// `CLIENT_MULTI_RESULTS`: a procedure may answer with several results.
    pub const MULTI_RESULTS: Self = Self(1 << 17);
    /// `CLIENT_PS_MULTI_RESULTS`: so may a prepared `CALL`.
    pub const PS_MULTI_RESULTS: Self = Self(1 << 18);
    /// `CLIENT_PLUGIN_AUTH`: ways to authenticate have names.
    pub const PLUGIN_AUTH: Self = Self(1 << 19);

    /// Capabilities that this crate requires.
    pub const REQUIRED: Self = Self(Self::PROTOCOL_41.0 | Self::SECURE_CONNECTION.0);

    /// Capabilities that this crate requests of a server that offers them.
    pub const WANTED: Self = Self(
        Self::REQUIRED.0
            | Self::LONG_PASSWORD.0
            | Self::LONG_FLAG.0
            | Self::TRANSACTIONS.0
            | Self::MULTI_RESULTS.0
            | Self::PS_MULTI_RESULTS.0
            | Self::PLUGIN_AUTH.0,
    );

    /// Those that it requests of every server: 4.1 and 5.0 know them, but their greetings do not say so.
    pub const UNSAID: Self = Self(Self::LOCAL_FILES.0 | Self::MULTI_RESULTS.0);

    /// Returns `true` if every flag of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}
