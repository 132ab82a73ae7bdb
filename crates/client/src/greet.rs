//! From the server's greeting to an open connection.

#[cfg(test)]
mod tests;

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use prony_model::Tls;
use prony_wire::{
    AuthPlugin, AuthReply, CACHING_SHA2_KEY_REQUEST, Capabilities, Channel, ErrPacket, Greeting,
    clear_password, encrypted_password,
};

use crate::transport::Transport;
use crate::{Address, ClientError, Login, TlsError};

/// The first byte of an ERR packet.
const ERR: u8 = 0xff;

/// Switches and rounds that an authentication may take; the longest honest one takes five.
const ROUNDS_MAX: usize = 8;

/// What the server said of itself.
pub(crate) struct Greeted {
    pub(crate) server_version: String,
    pub(crate) connection_id: u32,
}

/// Reads the greeting, encrypts the connection if the login says so, and logs in.
pub(crate) fn log_in(
    mut transport: Transport,
    address: &Address,
    login: &Login,
) -> Result<(Transport, Greeted), ClientError> {
    let packet = transport.receive()?;
    if packet.first() == Some(&ERR) {
        return Err(ClientError::refused(ErrPacket::parse(&packet)?));
    }
    let greeting = Greeting::parse(&packet)?;
    let channel = channel(address, &login.tls);
    let client = prony_wire::Login {
        user: &login.user,
        password: &login.password,
        database: login.database.as_deref(),
        channel,
    };
    if channel == Channel::Encrypted {
        let tls_error = |source| ClientError::Tls {
            address: address.clone(),
            source,
        };
        if !greeting.capabilities.contains(Capabilities::SSL) {
            return Err(tls_error(TlsError::NotOffered));
        }
        transport.reply(&client.ssl_request(&greeting))?;
        transport = transport.encrypt(address, &login.tls).map_err(tls_error)?;
    }
    transport.reply(&client.answer(&greeting))?;
    let plugin = client.plugin(&greeting);
    let mut proof = Proof {
        transport: &mut transport,
        address,
        login,
        channel,
        plugin,
        waits_for_key: asks_for_key(plugin, login, channel),
        nonce: greeting.nonce,
    };
    proof.give()?;
    let greeted = Greeted {
        server_version: String::from_utf8_lossy(greeting.server_version).into_owned(),
        connection_id: greeting.connection_id,
    };
    Ok((transport, greeted))
}

const fn channel(address: &Address, tls: &Tls) -> Channel {
    match (tls, address) {
        (Tls::Off, Address::Unix(_)) => Channel::Local,
        (Tls::Off, Address::Tcp(_)) => Channel::Open,
        (Tls::Required | Tls::VerifyCa(_) | Tls::VerifyFull(_), _) => Channel::Encrypted,
    }
}

/// The conversation in which the client proves who it is.
struct Proof<'a> {
    transport: &'a mut Transport,
    address: &'a Address,
    login: &'a Login,
    channel: Channel,
    /// What the proof under way is for.
    plugin: AuthPlugin,
    /// The server was asked for its public key and has not sent it.
    waits_for_key: bool,
    nonce: Vec<u8>,
}

impl Proof<'_> {
    /// Answers the server until it is content.
    fn give(&mut self) -> Result<(), ClientError> {
        for _ in 0..ROUNDS_MAX {
            let packet = self.transport.receive()?;
            match AuthReply::parse(&packet)? {
                AuthReply::Accepted => return Ok(()),
                AuthReply::Refused(error) => return Err(self.refused(error)),
                AuthReply::FastAuthSucceeded => {}
                AuthReply::FullAuthNeeded if self.channel.is_private() => self
                    .transport
                    .reply(&clear_password(&self.login.password))?,
                AuthReply::FullAuthNeeded => {
                    self.waits_for_key = true;
                    self.transport.reply(&[CACHING_SHA2_KEY_REQUEST])?;
                }
                AuthReply::Data(key) => self.encrypt_password(key)?,
                AuthReply::Switch { plugin, nonce } => self.switch(plugin, nonce)?,
                AuthReply::OldPassword => return Err(unknown("a password hash of MySQL 4.0")),
            }
        }
        Err(unknown("more and more proof"))
    }

    fn switch(&mut self, plugin: &[u8], nonce: &[u8]) -> Result<(), ClientError> {
        let name = String::from_utf8_lossy(plugin);
        self.plugin = AuthPlugin::from_name(plugin).ok_or_else(|| unknown(&name))?;
        self.waits_for_key = asks_for_key(self.plugin, self.login, self.channel);
        nonce.clone_into(&mut self.nonce);
        let answer = self
            .plugin
            .answer(&self.login.password, nonce, self.channel)
            .ok_or_else(|| unknown(&format!("{name} over TCP without TLS")))?;
        self.transport.reply(&answer)
    }

    /// The server sent its key.
    fn encrypt_password(&mut self, key: &[u8]) -> Result<(), ClientError> {
        self.waits_for_key = false;
        let password = &self.login.password;
        // Linux has randomness for everybody who asks.
        let mut random = UnwrapErr(SysRng);
        let encrypted = encrypted_password(password, &self.nonce, key, &mut random)?;
        self.transport.reply(&encrypted)
    }

    fn refused(&self, error: ErrPacket<'_>) -> ClientError {
        ClientError::Login {
            address: self.address.clone(),
            user: self.login.user.clone(),
            plugin: self.plugin.name(),
            code: error.code,
            sqlstate: error.sqlstate_text(),
            message: error.message_text(),
            remedy: if self.waits_for_key {
                "does the server have an RSA key for passwords? Otherwise connect with TLS"
            } else {
                remedy(error.code)
            },
        }
    }
}

/// Whether the answer for a plugin is the question for the server's public key.
fn asks_for_key(plugin: AuthPlugin, login: &Login, channel: Channel) -> bool {
    plugin == AuthPlugin::Sha256Password
        && channel != Channel::Encrypted
        && !login.password.is_empty()
}

/// What to look at after a refused login.
const fn remedy(code: u16) -> &'static str {
    match code {
        // ER_ACCESS_DENIED_ERROR, ER_ACCESS_DENIED_NO_PASSWORD_ERROR
        1045 | 1698 => {
            "check the password, and that the account may connect from this host in this way"
        }
        // ER_DBACCESS_DENIED_ERROR, ER_BAD_DB_ERROR
        1044 | 1049 => "check that the database exists and that the account may use it",
        _ => "the server's log may say more",
    }
}

fn unknown(wanted: &str) -> ClientError {
    ClientError::Authentication {
        wanted: wanted.to_owned(),
        remedy: "mysql_native_password or caching_sha2_password",
    }
}
