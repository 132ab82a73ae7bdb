//! The client's answer to the greeting.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_response.html>
//!
//! ```text
//! int<4>       capabilities
//! int<4>       longest packet that the client takes
//! int<1>       character set
//! string[23]   0
//! string<NUL>  user
//! int<1>       length of the proof (SECURE_CONNECTION)
//! string[n]    proof of the password
//! string<NUL>  database                (with CONNECT_WITH_DB)
//! string<NUL>  authentication plugin   (with PLUGIN_AUTH)
//! ```
//!
//! For a connection in TLS, everything before the user is sent first and in clear, with the flag
//! SSL; then TLS begins, and the whole packet is sent inside:
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_ssl_request.html>

use crate::{AuthPlugin, Capabilities, Channel, Greeting};

/// `latin1_swedish_ci`: the one collation that every version from 4.1 to 9.x has had as a default
/// or knows by this number, so that no version converts where another does not.
const CHARACTER_SET: u8 = 8;

/// The longest packet that the client takes: as long as any server sends, 1 GB.
const PACKET_SIZE_MAX: u32 = 1 << 30;

/// The longest proof of a login: its length takes one byte.
const PROOF_SIZE_MAX: usize = 250;

/// Account of a login.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// The account's name.
    pub user: &'a str,
    /// Its password; empty for none.
    pub password: &'a str,
    /// The default database.
    pub database: Option<&'a str>,
    /// Privacy of the connection.
    pub channel: Channel,
}

impl Login<'_> {
    /// The plugin that the payload of [`Self::answer`] is for: the server's own choice or, where
    /// that can't answer a greeting, `mysql_native_password`; the server then asks to switch.
    pub fn plugin(&self, greeting: &Greeting<'_>) -> AuthPlugin {
        match AuthPlugin::from_name(greeting.auth_plugin) {
            // What it signs comes with the request to switch only.
            Some(AuthPlugin::Ed25519 | AuthPlugin::ClearPassword) | None => {
                AuthPlugin::NativePassword
            }
            // A proof of the login has at most 250 bytes.
            Some(AuthPlugin::Sha256Password) if self.password.len() >= PROOF_SIZE_MAX => {
                AuthPlugin::NativePassword
            }
            Some(plugin) => plugin,
        }
    }

    /// The payload that asks to go on in TLS. The server must offer [`Capabilities::SSL`].
    pub fn ssl_request(&self, greeting: &Greeting<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        self.put_head(&mut out, greeting);
        out
    }

    /// The payload that answers `greeting`.
    pub fn answer(&self, greeting: &Greeting<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        let capabilities = self.put_head(&mut out, greeting);
        put_nul_terminated(&mut out, self.user);
        let plugin = self.plugin(greeting);
        let proof = plugin
            .answer(self.password, &greeting.nonce, self.channel)
            .unwrap_or_default();
        out.push(u8::try_from(proof.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(&proof);
        if let Some(database) = self.database {
            put_nul_terminated(&mut out, database);
        }
        if capabilities.contains(Capabilities::PLUGIN_AUTH) {
            put_nul_terminated(&mut out, plugin.name());
        }
        out
    }

    /// Appends everything before the user.
    fn put_head(&self, out: &mut Vec<u8>, greeting: &Greeting<'_>) -> Capabilities {
        let mut wanted = Capabilities::WANTED;
        if self.database.is_some() {
            wanted = wanted.union(Capabilities::CONNECT_WITH_DB);
        }
        if self.channel == Channel::Encrypted {
            wanted = wanted.union(Capabilities::SSL);
        }
        let capabilities = wanted
            .intersection(greeting.capabilities)
            .union(Capabilities::UNSAID);
        out.extend_from_slice(&capabilities.0.to_le_bytes());
        out.extend_from_slice(&PACKET_SIZE_MAX.to_le_bytes());
        out.push(CHARACTER_SET);
        out.extend_from_slice(&[0; 23]);
        capabilities
    }
}

fn put_nul_terminated(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(capabilities: u32, auth_plugin: &[u8]) -> Greeting<'_> {
        Greeting {
            server_version: b"x",
            connection_id: 1,
            capabilities: Capabilities(capabilities),
            nonce: vec![1; 20],
            auth_plugin,
        }
    }

    #[test]
    fn layout_with_plugin_and_database() {
        let login = Login {
            user: "prony",
            password: "",
            database: Some("bench"),
            channel: Channel::Local,
        };
        let bytes = login.answer(&greeting(u32::MAX, b"caching_sha2_password"));
        let flags = Capabilities::WANTED
            .union(Capabilities::CONNECT_WITH_DB)
            .union(Capabilities::UNSAID);
        assert_eq!(bytes[..4], flags.0.to_le_bytes());
        assert_eq!(bytes[8], CHARACTER_SET);
        assert_eq!(&bytes[32..], b"prony\0\x01\0bench\0caching_sha2_password\0");
    }

    #[test]
    fn offers_only_what_the_server_has() {
        let login = Login {
            user: "u",
            password: "p",
            database: None,
            channel: Channel::Local,
        };
        let old = Capabilities::REQUIRED.0 | Capabilities::LONG_FLAG.0;
        let bytes = login.answer(&greeting(old, b""));
        let flags = old | Capabilities::UNSAID.0;
        assert_eq!(bytes[..4], flags.to_le_bytes());
        assert_eq!(bytes.len(), 32 + 2 + 1 + 20);
        let unknown = login.answer(&greeting(u32::MAX, b"client_ed25519"));
        assert!(unknown.ends_with(b"mysql_native_password\0"));
    }

    #[test]
    fn encryption_begins_with_the_head_of_the_login() {
        let login = Login {
            user: "u",
            password: "secret",
            database: None,
            channel: Channel::Encrypted,
        };
        let greeting = greeting(u32::MAX, b"sha256_password");
        let request = login.ssl_request(&greeting);
        let answer = login.answer(&greeting);
        assert_eq!(request, answer[..32]);
        assert_eq!(request[1] & 8, 8, "the flag SSL");
        assert!(answer[32..].starts_with(b"u\0\x07secret\0sha256_password"));
    }

    #[test]
    fn long_passwords_wait_for_a_request() {
        let login = Login {
            user: "u",
            password: &"x".repeat(300),
            database: None,
            channel: Channel::Encrypted,
        };
        let greeting = greeting(u32::MAX, b"sha256_password");
        assert!(
            login
                .answer(&greeting)
                .ends_with(b"mysql_native_password\0")
        );
    }
}
