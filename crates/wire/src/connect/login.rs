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

use crate::{AuthPlugin, Capabilities, Greeting};

/// `latin1_swedish_ci`: the one collation that every version from 4.1 to 9.x has had as a default
/// or knows by this number, so that no version converts where another does not.
const CHARACTER_SET: u8 = 8;

/// The longest packet that the client takes: as long as any server sends, 1 GB.
const PACKET_SIZE_MAX: u32 = 1 << 30;

/// Who wants to connect.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// The account's name.
    pub user: &'a str,
    /// Its password; empty for none.
    pub password: &'a str,
    /// The default database.
    pub database: Option<&'a str>,
}

impl Login<'_> {
    /// The payload that answers `greeting`. Where the server prefers a plugin that Prony does not
    /// know, the answer is for `mysql_native_password` and the server asks to switch.
    pub fn answer(&self, greeting: &Greeting<'_>) -> Vec<u8> {
        let plugin =
            AuthPlugin::from_name(greeting.auth_plugin).unwrap_or(AuthPlugin::NativePassword);
        let proof = plugin.answer(self.password, &greeting.nonce);
        let mut wanted = Capabilities::WANTED;
        if self.database.is_some() {
            wanted = wanted.union(Capabilities::CONNECT_WITH_DB);
        }
        let capabilities = wanted.intersection(greeting.capabilities);
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(&capabilities.0.to_le_bytes());
        out.extend_from_slice(&PACKET_SIZE_MAX.to_le_bytes());
        out.push(CHARACTER_SET);
        out.extend_from_slice(&[0; 23]);
        put_nul_terminated(&mut out, self.user);
        // A proof has 0, 1, 20 or 32 bytes.
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
        };
        let bytes = login.answer(&greeting(u32::MAX, b"caching_sha2_password"));
        let flags = Capabilities::WANTED.union(Capabilities::CONNECT_WITH_DB);
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
        };
        let old = Capabilities::REQUIRED.0 | Capabilities::LONG_FLAG.0;
        let bytes = login.answer(&greeting(old, b""));
        assert_eq!(bytes[..4], old.to_le_bytes());
        assert_eq!(bytes.len(), 32 + 2 + 1 + 20);
        let unknown = login.answer(&greeting(u32::MAX, b"client_ed25519"));
        assert!(unknown.ends_with(b"mysql_native_password\0"));
    }
}
