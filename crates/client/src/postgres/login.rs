//! Logging in, one message of the server after the other.

use std::fmt;

use fallible_iterator::FallibleIterator as _;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::messages::{Refusal, append, unexpected};
use crate::{Address, ClientError, Login};

/// The database of an administrator that names none: every server has it.
const DATABASE: &str = "postgres";

/// The part of a conversation that is here.
const PLACE: &str = "a login";

/// A login under way.
pub(super) struct LoggingIn {
    address: Address,
    login: Login,
    /// How the password is proved, in words.
    method: &'static str,
    scram: Option<ScramSha256>,
    /// The version of the server, as it says it.
    pub(super) server_version: String,
    /// The process of the session.
    pub(super) process_id: u32,
}

impl fmt::Debug for LoggingIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoggingIn")
            .field("login", &self.login)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl LoggingIn {
    pub(super) fn new(address: &Address, login: &Login) -> Self {
        Self {
            address: address.clone(),
            login: login.clone(),
            method: "no proof",
            scram: None,
            server_version: String::new(),
            process_id: 0,
        }
    }

    pub(super) const fn address(&self) -> &Address {
        &self.address
    }

    pub(super) const fn login(&self) -> &Login {
        &self.login
    }

    /// Appends the message that names account and database.
    pub(super) fn append_startup(&self, out: &mut Vec<u8>) -> Result<(), ClientError> {
        let database = self.login.database.as_deref().unwrap_or(DATABASE);
        let parameters = [("user", self.login.user.as_str()), ("database", database)];
        append(out, |bytes| frontend::startup_message(parameters, bytes))
    }

    /// Takes the next message of the server and appends what answers it; returns `true` if the
    /// session is ready.
    pub(super) fn take(
        &mut self,
        message: &Message,
        out: &mut Vec<u8>,
    ) -> Result<bool, ClientError> {
        let password = self.login.password.as_bytes();
        match message {
            Message::AuthenticationCleartextPassword => {
                self.method = "password";
                append(out, |bytes| frontend::password_message(password, bytes))?;
            }
            Message::AuthenticationMd5Password(body) => {
                self.method = "md5";
                let proof = md5_hash(self.login.user.as_bytes(), password, body.salt());
                append(out, |bytes| {
                    frontend::password_message(proof.as_bytes(), bytes)
                })?;
            }
            Message::AuthenticationSasl(body) => {
                let offers = body.mechanisms().any(|name| Ok(name == SCRAM_SHA_256));
                if !offers.map_err(|source| ClientError::Message { source })? {
                    return Err(unknown("another mechanism of SASL than SCRAM-SHA-256"));
                }
                self.method = "scram-sha-256";
                let scram = ScramSha256::new(password, ChannelBinding::unsupported());
                append(out, |bytes| {
                    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), bytes)
                })?;
                self.scram = Some(scram);
            }
            Message::AuthenticationSaslContinue(body) => {
                let scram = self.scram.as_mut().ok_or_else(|| unexpected(PLACE))?;
                let updated = scram.update(body.data());
                updated.map_err(|source| ClientError::Message { source })?;
                append(out, |bytes| frontend::sasl_response(scram.message(), bytes))?;
            }
            Message::AuthenticationSaslFinal(body) => {
                // Taken, so that it is asked nothing more.
                let mut scram = self.scram.take().ok_or_else(|| unexpected(PLACE))?;
                let finished = scram.finish(body.data());
                finished.map_err(|source| ClientError::Message { source })?;
            }
            // A server that ends the proof early has not shown that it knows the password.
            Message::AuthenticationOk if self.scram.is_some() => return Err(unexpected(PLACE)),
            Message::AuthenticationOk | Message::NoticeResponse(_) => {}
            Message::AuthenticationKerberosV5
            | Message::AuthenticationGss
            | Message::AuthenticationSspi
            | Message::AuthenticationScmCredential
            | Message::AuthenticationGssContinue(_) => return Err(unknown("Kerberos or the like")),
            Message::ParameterStatus(body) => {
                if matches!(body.name(), Ok("server_version")) {
                    let value = body.value().unwrap_or_default();
                    value.clone_into(&mut self.server_version);
                }
            }
            Message::BackendKeyData(body) => self.process_id = body.process_id().cast_unsigned(),
            Message::ErrorResponse(body) => return Err(self.refused(Refusal::read(body))),
            Message::ReadyForQuery(_) => return Ok(true),
            _ => return Err(unexpected(PLACE)),
        }
        Ok(false)
    }

    /// The error of a server that refuses the connection.
    fn refused(&self, refusal: Refusal) -> ClientError {
        let Some(remedy) = remedy(&refusal.sqlstate) else {
            return refusal.of_task("open the connection");
        };
        ClientError::Login {
            address: self.address.clone(),
            user: self.login.user.clone(),
            plugin: self.method,
            code: refusal.code(),
            sqlstate: refusal.sqlstate,
            message: refusal.message,
            remedy,
        }
    }
}

/// Remedy of a refused login; `None` for refusals that have nothing to do with the account.
fn remedy(sqlstate: &str) -> Option<&'static str> {
    match sqlstate {
        "28P01" => Some("check the password"),
        "28000" => Some(
            "check that the account exists and may connect in this way (`pg_hba.conf` of the server)",
        ),
        "3D000" => Some("check that the database exists and that the account may use it"),
        _ => None,
    }
}

fn unknown(wanted: &str) -> ClientError {
    ClientError::Authentication {
        wanted: wanted.to_owned(),
        remedy: "the method `scram-sha-256`, `md5`, `password` or `trust` in pg_hba.conf",
    }
}
