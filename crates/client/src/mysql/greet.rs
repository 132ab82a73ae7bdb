//! From the server's greeting to an open connection: what to answer to each packet, and the
//! blocking way to do so.

#[cfg(test)]
mod tests;

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use prony_model::Tls;
use prony_wire::{
    AuthPlugin, AuthReply, CACHING_SHA2_KEY_REQUEST, Capabilities, Channel, ErrPacket, Greeting,
    clear_password, codes, encrypted_password,
};

use super::ERR;
use super::transport::Transport;
use crate::{Address, ClientError, Login, TlsError};

/// Switches and rounds that an authentication may take; the longest honest one takes five.
const ROUNDS_MAX: usize = 8;

/// Reads the greeting, encrypts the connection if the login says so, and logs in.
pub(crate) fn log_in(
    mut transport: Transport,
    address: &Address,
    login: &Login,
) -> Result<(Transport, Greeted), ClientError> {
    let mut machine = LoggingIn::new(address, login);
    loop {
        let packet = transport.receive()?;
        match machine.take(&packet)? {
            Step::Reply(payload) => transport.reply(&payload)?,
            Step::Encrypt {
                request,
                login: proof,
            } => {
                transport.reply(&request)?;
                transport = transport
                    .encrypt(address, &login.tls)
                    .map_err(|source| machine.tls_error(source))?;
                transport.reply(&proof)?;
            }
            Step::Wait => {}
            Step::Done => return Ok((transport, machine.greeted)),
        }
    }
}

/// Facts that the server reported about itself.
#[derive(Debug, Default)]
pub(crate) struct Greeted {
    pub(crate) server_version: String,
    pub(crate) connection_id: u32,
}

/// Next action after a packet of the login.
#[derive(Debug)]
pub(crate) enum Step {
    /// Send this as the next packet.
    Reply(Vec<u8>),
    /// Send the request, go on in TLS, and send the login.
    Encrypt { request: Vec<u8>, login: Vec<u8> },
    /// Wait for the server's next packet.
    Wait,
    /// The connection is open.
    Done,
}

/// Logging in, one packet of the server after the other, over any transport.
#[derive(Debug)]
pub(crate) struct LoggingIn {
    address: Address,
    login: Login,
    channel: Channel,
    greeted: Greeted,
    /// Plugin of the proof under way; `None` before the greeting.
    plugin: Option<AuthPlugin>,
    /// The server was asked for its public key and has not sent it.
    waits_for_key: bool,
    nonce: Vec<u8>,
    /// Packets of the server since the greeting.
    rounds: usize,
}

impl LoggingIn {
    pub(crate) fn new(address: &Address, login: &Login) -> Self {
        Self {
            address: address.clone(),
            login: login.clone(),
            channel: channel(address, &login.tls),
            greeted: Greeted::default(),
            plugin: None,
            waits_for_key: false,
            nonce: Vec::new(),
            rounds: 0,
        }
    }

    /// Takes the next packet of the server.
    pub(crate) fn take(&mut self, packet: &[u8]) -> Result<Step, ClientError> {
        match self.plugin {
            None => self.answer_greeting(packet),
            Some(plugin) => self.prove(plugin, packet),
        }
    }

    fn answer_greeting(&mut self, packet: &[u8]) -> Result<Step, ClientError> {
        if packet.first() == Some(&ERR) {
            return Err(ClientError::not_greeted(ErrPacket::parse(packet)?));
        }
        let greeting = Greeting::parse(packet)?;
        let client = prony_wire::Login {
            user: &self.login.user,
            password: &self.login.password,
            database: self.login.database.as_deref(),
            channel: self.channel,
        };
        let login = client.answer(&greeting);
        let step = match self.channel {
            Channel::Local | Channel::Open => Step::Reply(login),
            Channel::Encrypted if greeting.capabilities.contains(Capabilities::SSL) => {
                let request = client.ssl_request(&greeting);
                Step::Encrypt { request, login }
            }
            Channel::Encrypted => return Err(self.tls_error(TlsError::NotOffered)),
        };
        let plugin = client.plugin(&greeting);
        self.greeted = Greeted {
            server_version: String::from_utf8_lossy(greeting.server_version).into_owned(),
            connection_id: greeting.connection_id,
        };
        self.waits_for_key = asks_for_key(plugin, &self.login, self.channel);
        self.plugin = Some(plugin);
        self.nonce = greeting.nonce;
        Ok(step)
    }

    /// Answers the server until it is content.
    fn prove(&mut self, plugin: AuthPlugin, packet: &[u8]) -> Result<Step, ClientError> {
        self.rounds += 1;
        if self.rounds > ROUNDS_MAX {
            return Err(unknown("more and more authentication data"));
        }
        match AuthReply::parse(packet)? {
            AuthReply::Accepted => Ok(Step::Done),
            AuthReply::Refused(error) => Err(self.refused(plugin, error)),
            AuthReply::FastAuthSucceeded => Ok(Step::Wait),
            AuthReply::FullAuthNeeded if self.channel.is_private() => {
                Ok(Step::Reply(clear_password(&self.login.password)))
            }
            AuthReply::FullAuthNeeded => {
                self.waits_for_key = true;
                Ok(Step::Reply(vec![CACHING_SHA2_KEY_REQUEST]))
            }
            AuthReply::Data(key) if self.waits_for_key => self.encrypt_password(key),
            AuthReply::Data(_) => Err(unknown(&format!("more than {} needs", plugin.name()))),
            AuthReply::Switch { plugin, nonce } => self.switch(plugin, nonce),
            AuthReply::OldPassword => Err(unknown("a password hash of MySQL 4.0")),
        }
    }

    fn switch(&mut self, plugin: &[u8], nonce: &[u8]) -> Result<Step, ClientError> {
        let name = String::from_utf8_lossy(plugin);
        let plugin = AuthPlugin::from_name(plugin).ok_or_else(|| unknown(&name))?;
        self.plugin = Some(plugin);
        self.waits_for_key = asks_for_key(plugin, &self.login, self.channel);
        nonce.clone_into(&mut self.nonce);
        plugin
            .answer(&self.login.password, nonce, self.channel)
            .map(Step::Reply)
            .ok_or_else(|| unknown(&format!("{name} over TCP without TLS")))
    }

    /// The server sent its key.
    fn encrypt_password(&mut self, key: &[u8]) -> Result<Step, ClientError> {
        self.waits_for_key = false;
        let password = &self.login.password;
        // Linux always provides randomness.
        let mut random = UnwrapErr(SysRng);
        let encrypted = encrypted_password(password, &self.nonce, key, &mut random)?;
        Ok(Step::Reply(encrypted))
    }

    fn refused(&self, plugin: AuthPlugin, error: ErrPacket<'_>) -> ClientError {
        ClientError::Login {
            address: self.address.clone(),
            user: self.login.user.clone(),
            plugin: plugin.name(),
            code: error.code.into(),
            sqlstate: error.sqlstate_text(),
            message: error.message_text(),
            remedy: if self.waits_for_key {
                "does the server have an RSA key for passwords? Otherwise connect with TLS"
            } else {
                remedy(error.code)
            },
        }
    }

    pub(crate) fn tls_error(&self, source: TlsError) -> ClientError {
        ClientError::Tls {
            address: self.address.clone(),
            source,
        }
    }
}

const fn channel(address: &Address, tls: &Tls) -> Channel {
    match (tls, address) {
        (Tls::Off, Address::Unix(_)) => Channel::Local,
        (Tls::Off, Address::Tcp(_)) => Channel::Open,
        (Tls::Required | Tls::VerifyCa(_) | Tls::VerifyFull(_) | Tls::VerifyFullBy(_), _) => {
            Channel::Encrypted
        }
    }
}

/// Returns `true` if the answer for a plugin is the question for the server's public key.
fn asks_for_key(plugin: AuthPlugin, login: &Login, channel: Channel) -> bool {
    plugin == AuthPlugin::Sha256Password
        && channel != Channel::Encrypted
        && !login.password.is_empty()
}

/// Remedy after a refused login.
const fn remedy(code: u16) -> &'static str {
    match code {
        codes::ACCESS_DENIED_ERROR | codes::ACCESS_DENIED_NO_PASSWORD_ERROR => {
            "check the password, and that the account may connect from this host in this way"
        }
        codes::DBACCESS_DENIED_ERROR | codes::BAD_DB_ERROR => {
            "check that the database exists and that the account may use it"
        }
        _ => "see the server's log for details",
    }
}

fn unknown(wanted: &str) -> ClientError {
    ClientError::Authentication {
        wanted: wanted.to_owned(),
        remedy: "mysql_native_password or caching_sha2_password",
    }
}
