//! From the server's greeting to an open connection.

use prony_wire::{AuthPlugin, AuthReply, ErrPacket, Greeting, clear_password};

use crate::transport::Transport;
use crate::{Address, ClientError, Login};

/// The first byte of an ERR packet.
const ERR: u8 = 0xff;

/// Switches and rounds that an authentication may take; the longest honest one takes four.
const ROUNDS_MAX: usize = 8;

/// What the server said of itself.
pub(crate) struct Greeted {
    pub(crate) server_version: String,
    pub(crate) connection_id: u32,
}

/// Reads the greeting and logs in.
pub(crate) fn log_in(
    transport: &mut Transport,
    address: &Address,
    login: &Login,
) -> Result<Greeted, ClientError> {
    let packet = transport.receive()?;
    if packet.first() == Some(&ERR) {
        return Err(ClientError::refused(ErrPacket::parse(&packet)?));
    }
    let greeting = Greeting::parse(&packet)?;
    let answer = prony_wire::Login {
        user: &login.user,
        password: &login.password,
        database: login.database.as_deref(),
    }
    .answer(&greeting);
    transport.reply(&answer)?;
    authenticate(transport, address, login)?;
    Ok(Greeted {
        server_version: String::from_utf8_lossy(greeting.server_version).into_owned(),
        connection_id: greeting.connection_id,
    })
}

fn authenticate(
    transport: &mut Transport,
    address: &Address,
    login: &Login,
) -> Result<(), ClientError> {
    for _ in 0..ROUNDS_MAX {
        let packet = transport.receive()?;
        match AuthReply::parse(&packet)? {
            AuthReply::Accepted => return Ok(()),
            AuthReply::Refused(error) => return Err(ClientError::refused(error)),
            AuthReply::FastAuthSucceeded => {}
            AuthReply::FullAuthNeeded => match address {
                // Nobody else can read a unix socket, so the password itself may cross it.
                Address::Unix(_) => transport.reply(&clear_password(&login.password))?,
                Address::Tcp(_) => return Err(unknown("the password itself, over TCP")),
            },
            AuthReply::Switch { plugin, nonce } => {
                let known = AuthPlugin::from_name(plugin)
                    .ok_or_else(|| unknown(&String::from_utf8_lossy(plugin)))?;
                transport.reply(&known.answer(&login.password, nonce))?;
            }
            AuthReply::OldPassword => return Err(unknown("a password hash of MySQL 4.0")),
        }
    }
    Err(unknown("more and more proof"))
}

fn unknown(wanted: &str) -> ClientError {
    ClientError::Authentication {
        wanted: wanted.to_owned(),
        remedy: "mysql_native_password or caching_sha2_password",
    }
}
