//! An open connection, to a server of any family.

use std::time::Duration;

use prony_model::Family;

use crate::{
    Address, Answer, ClientError, Login, PreparedStatement, Socket, Stream, mysql, postgres,
};

/// A connection to a server. Dropping it says goodbye to the server.
#[derive(Debug)]
pub struct Connection {
    family: Family,
    conversation: Conversation,
}

#[derive(Debug)]
enum Conversation {
    Mysql(mysql::connection::Connection),
    Postgres(postgres::connection::Connection),
}

/// Calls a method of either conversation.
macro_rules! of {
    ($connection:expr, $it:ident => $call:expr) => {
        match $connection {
            Conversation::Mysql($it) => $call,
            Conversation::Postgres($it) => $call,
        }
    };
}

impl Connection {
    /// Connects and logs in. `timeout` is the longest silence of the server that is put up with,
    /// now and in statements, until [`set_timeout`](Self::set_timeout).
    ///
    /// # Errors
    /// If the server is not there, refuses (too many connections, wrong password), is silent, older
    /// than Prony knows, wants an authentication that Prony does not know, or does not encrypt as the
    /// login says it must.
    pub fn connect(
        address: &Address,
        login: &Login,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let conversation = match login.family {
            Family::Mysql | Family::Mariadb => {
                let connection = mysql::connection::Connection::connect(address, login, timeout);
                Conversation::Mysql(connection?)
            }
            Family::Postgresql => {
                let connection = postgres::connection::Connection::connect(address, login, timeout);
                Conversation::Postgres(connection?)
            }
        };
        Ok(Self {
            family: login.family,
            conversation,
        })
    }

    /// The family of the server, which decides the SQL that it understands.
    pub const fn family(&self) -> Family {
        self.family
    }

    /// `true` if the server is one of PostgreSQL.
    pub const fn is_postgresql(&self) -> bool {
        matches!(self.family, Family::Postgresql)
    }

    /// The version as the server's greeting says it. MariaDB 10 says `5.5.5-` before it; ask
    /// `SELECT VERSION()` for the plain text.
    pub fn server_version(&self) -> &str {
        of!(&self.conversation, it => it.server_version())
    }

    /// The number of the session: that of `SHOW PROCESSLIST`, or the process id of a session of
    /// PostgreSQL.
    pub const fn connection_id(&self) -> u32 {
        of!(&self.conversation, it => it.connection_id())
    }

    /// The socket; `None` after an error that closed the connection.
    pub fn socket(&self) -> Option<&Socket> {
        of!(&self.conversation, it => it.socket())
    }

    /// Limits how long the server may be silent in a statement; `None` waits forever.
    ///
    /// # Errors
    /// If the limit is zero, or the connection is closed.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), ClientError> {
        of!(&mut self.conversation, it => it.set_timeout(timeout))
    }

    /// Sends a statement and waits for its whole answer. PostgreSQL takes several at once, separated
    /// by `;`.
    ///
    /// # Errors
    /// If the server refuses the statement, is silent for too long or gone, or does not keep to the
    /// protocol. After all but a refusal the connection is closed.
    pub fn query(&mut self, sql: impl AsRef<[u8]>) -> Result<Answer, ClientError> {
        let sql = sql.as_ref();
        of!(&mut self.conversation, it => it.query(sql))
    }

    /// Sends a statement that asks for rows, `LOAD DATA LOCAL` of any file or `COPY … FROM STDIN`, and
    /// the rows: `next` appends some to what is in a buffer, again and again, until it appends none. No
    /// file is read. Rows that the server did not ask for are not asked of `next`.
    ///
    /// # Errors
    /// As [`query`](Self::query); a server of MySQL whose `local_infile` is off refuses.
    pub fn load_rows(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<Answer, ClientError> {
        of!(&mut self.conversation, it => it.load_rows(sql, next))
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, ClientError> {
        of!(&mut self.conversation, it => it.prepare(sql))
    }

    /// Executes a prepared statement that returns no rows. `request` is framed in the server's
    /// protocol, with the statement's number.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn execute(&mut self, request: &[u8]) -> Result<Answer, ClientError> {
        of!(&mut self.conversation, it => it.execute(request))
    }

    /// Lets the server forget a prepared statement.
    ///
    /// # Errors
    /// If the connection is closed.
    pub fn close(&mut self, statement: PreparedStatement) -> Result<(), ClientError> {
        of!(&mut self.conversation, it => it.close(statement))
    }

    /// Asks the server to stop, for those that can't be asked by a signal. It stops some time after
    /// the answer.
    ///
    /// # Errors
    /// If the account has not the right to, or the server does not know the request, as those of
    /// MySQL 9 and PostgreSQL.
    pub fn shutdown(self) -> Result<(), ClientError> {
        match self.conversation {
            Conversation::Mysql(connection) => connection.shutdown(),
            Conversation::Postgres(_) => Err(ClientError::NoShutdown),
        }
    }

    /// Hands over what carries the bytes, between two statements. Its timeouts stay as they are.
    ///
    /// # Errors
    /// If the connection is closed.
    pub fn into_stream(self) -> Result<Stream, ClientError> {
        of!(self.conversation, it => it.into_stream())
    }
}
