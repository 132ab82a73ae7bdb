//! Logging in: proofs of the password, refusals, encryption.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use postgres_protocol::password::scram_sha_256;
use prony_model::Tls;
use sha2::{Digest as _, Sha256};

use super::server::{
    accept, accepted, asides, authentication, encrypted, hear, hear_startup, login, message, ready,
    refusal,
};
use crate::testing::{Peer, connect_over_tcp_with, connect_with};
use crate::tls::tests::Stage;
use crate::{ClientError, Connection, Login, TlsError};

/// The request for encryption.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

#[test]
fn passwords_are_proved_as_the_server_asks() {
    for (request, proof) in [
        (None, ""),
        (Some(authentication(3, b"")), "secret"),
        (
            Some(authentication(5, &[1, 2, 3, 4])),
            // md5(md5("secret" "prony") and the salt), by another program.
            "md53d4d6d09975d8505428e3a8b1bf18983",
        ),
    ] {
        let (connection, server) = connect_with(&login("secret"), move |mut peer| {
            let startup = hear_startup(&mut peer);
            assert_eq!(startup, b"\0\x03\0\0user\0prony\0database\0test\0\0");
            if let Some(request) = request {
                peer.say_bytes(&request);
                let expected = format!("{proof}\0").into_bytes();
                assert_eq!(hear(&mut peer), (b'p', expected));
            }
            peer.say_bytes(&accepted());
            assert_eq!(hear(&mut peer), (b'X', Vec::new()));
        });
        let connection = connection.unwrap();
        assert_eq!(connection.server_version(), "17.5 (Debian 17.5-1)");
        assert_eq!(connection.connection_id(), 0x0102);
        assert!(connection.is_postgresql());
        drop(connection);
        server.join().unwrap();
    }
}

#[test]
fn administrators_without_a_database_use_postgres() {
    let login = Login {
        database: None,
        ..login("")
    };
    let (connection, server) = connect_with(&login, |mut peer| {
        let startup = hear_startup(&mut peer);
        assert_eq!(startup, b"\0\x03\0\0user\0prony\0database\0postgres\0\0");
        peer.say_bytes(&accepted());
    });
    connection.unwrap();
    server.join().unwrap();
}

/// A server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677).
struct Scram {
    rounds: String,
    salt: String,
    stored_key: Vec<u8>,
    server_key: Vec<u8>,
    /// The text that both sides sign.
    said: String,
}

impl Scram {
    /// A server that knows a password by what `pg_authid` keeps of it.
    fn new(password: &str) -> Self {
        let secret = scram_sha_256(password.as_bytes());
        let parts: Vec<&str> = secret.split(['$', ':']).collect();
        let [_, rounds, salt, stored_key, server_key] = parts[..] else {
            panic!("{secret}");
        };
        Self {
            rounds: rounds.to_owned(),
            salt: salt.to_owned(),
            stored_key: STANDARD.decode(stored_key).unwrap(),
            server_key: STANDARD.decode(server_key).unwrap(),
            said: String::new(),
        }
    }

    /// Asks for a proof and says how it is made.
    fn challenge(&mut self, peer: &mut Peer) {
        hear_startup(peer);
        peer.say_bytes(&authentication(
            10,
            b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0",
        ));
        let (tag, content) = hear(peer);
        assert_eq!(tag, b'p');
        let head = b"SCRAM-SHA-256\0\0\0\0";
        assert!(content.starts_with(head), "{content:?}");
        let first = String::from_utf8(content[head.len() + 1..].to_vec()).unwrap();
        let bare = first.strip_prefix("n,,").unwrap();
        let nonce = bare.strip_prefix("n=,r=").unwrap();
        let Self { rounds, salt, .. } = &self;
        let answer = format!("r={nonce}server,s={salt},i={rounds}");
        peer.say_bytes(&authentication(11, answer.as_bytes()));
        self.said = format!("{bare},{answer}");
    }

    /// Hears the proof; returns `true` if it is right.
    fn verify(&mut self, peer: &mut Peer) -> bool {
        let (tag, content) = hear(peer);
        assert_eq!(tag, b'p');
        let last = String::from_utf8(content).unwrap();
        let (bare, proof) = last.split_once(",p=").unwrap();
        self.said = format!("{},{bare}", self.said);
        let signature = sign(&self.stored_key, &self.said);
        let proof = STANDARD.decode(proof).unwrap();
        let key: Vec<u8> = signature.iter().zip(&proof).map(|(a, b)| a ^ b).collect();
        Sha256::digest(&key).to_vec() == self.stored_key
    }

    /// The server's own proof.
    fn signature(&self) -> Vec<u8> {
        let signature = STANDARD.encode(sign(&self.server_key, &self.said));
        authentication(12, format!("v={signature}").as_bytes())
    }
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[test]
fn both_sides_prove_the_password_by_scram() {
    let (connection, server) = connect_with(&login("secret"), |mut peer| {
        let mut scram = Scram::new("secret");
        scram.challenge(&mut peer);
        assert!(scram.verify(&mut peer));
        peer.say_bytes(&scram.signature());
        peer.say_bytes(&accepted());
        hear(&mut peer);
    });
    drop(connection.unwrap());
    server.join().unwrap();
}

#[test]
fn a_wrong_password_is_not_proved_by_scram() {
    let (connection, server) = connect_with(&login("another"), |mut peer| {
        let mut scram = Scram::new("secret");
        scram.challenge(&mut peer);
        assert!(!scram.verify(&mut peer));
        let text = "password authentication failed for user \"prony\"";
        peer.say_bytes(&refusal("FATAL", "28P01", text));
    });
    let shown = connection.unwrap_err().to_string();
    for word in ["`prony`", "scram-sha-256", "28P01", "check the password"] {
        assert!(shown.contains(word), "{shown}");
    }
    server.join().unwrap();
}

#[test]
fn servers_that_do_not_know_the_password_are_left() {
    type Answer = fn(&mut Scram) -> Vec<u8>;
    let answers: [Answer; 3] = [
        |scram| {
            scram.server_key[0] ^= 1;
            scram.signature()
        },
        |_| authentication(12, b"e=other-error"),
        |_| Vec::new(),
    ];
    for answer in answers {
        let (connection, server) = connect_with(&login("secret"), move |mut peer| {
            let mut scram = Scram::new("secret");
            scram.challenge(&mut peer);
            assert!(scram.verify(&mut peer));
            peer.say_bytes(&[answer(&mut scram), accepted()].concat());
        });
        let error = connection.unwrap_err();
        assert!(matches!(error, ClientError::Message { .. }), "{error}");
        server.join().unwrap();
    }
}

#[test]
fn challenges_out_of_bounds_are_refused() {
    for change in [
        |scram: &mut Scram| scram.rounds = "100000000".into(),
        |scram: &mut Scram| scram.rounds = "none".into(),
        |scram: &mut Scram| scram.salt = "no base64".into(),
    ] {
        let (connection, server) = connect_with(&login("secret"), move |mut peer| {
            let mut scram = Scram::new("secret");
            change(&mut scram);
            scram.challenge(&mut peer);
            assert!(peer.has_hung_up());
        });
        let error = connection.unwrap_err();
        assert!(matches!(error, ClientError::Message { .. }), "{error}");
        server.join().unwrap();
    }
}

fn refused(answer: Vec<u8>) -> ClientError {
    let (connection, server) = connect_with(&login("secret"), move |mut peer| {
        hear_startup(&mut peer);
        peer.say_bytes(&answer);
    });
    server.join().unwrap();
    connection.unwrap_err()
}

#[test]
fn refused_accounts_get_a_remedy() {
    for (code, word) in [
        ("28P01", "password"),
        ("28000", "pg_hba.conf"),
        ("3D000", "database"),
    ] {
        let error = refused(refusal("FATAL", code, "the server's words"));
        let shown = error.to_string();
        assert!(matches!(error, ClientError::Login { .. }), "{shown}");
        for word in ["`prony`", code, "the server's words", word] {
            assert!(shown.contains(word), "{shown}");
        }
    }
    let error = refused(refusal("FATAL", "53300", "sorry, too many clients already"));
    assert!(
        matches!(error, ClientError::Server { code, .. } if code.as_str() == "53300"),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "open the connection: server error 53300: sorry, too many clients already"
    );
}

#[test]
fn unknown_kinds_of_authentication_are_named() {
    for (answer, word) in [
        (authentication(7, b""), "Kerberos"),
        (authentication(2, b""), "Kerberos"),
        (authentication(9, b""), "Kerberos"),
        (
            authentication(10, b"SCRAM-SHA-256-PLUS\0OAUTHBEARER\0\0"),
            "SCRAM-SHA-256",
        ),
    ] {
        let error = refused(answer);
        let shown = error.to_string();
        assert!(
            matches!(error, ClientError::Authentication { .. }),
            "{shown}"
        );
        assert!(
            shown.contains(word) && shown.contains("pg_hba.conf"),
            "{shown}"
        );
    }
    let shown = refused(authentication(77, b"")).to_string();
    assert!(shown.contains("77"), "{shown}");
}

#[test]
fn messages_without_a_place_in_a_login() {
    for answer in [
        message(b'D', b"\0\0"),
        message(b'C', b"SELECT 1\0"),
        message(b'2', b""),
        authentication(11, b"r=a,s=b,i=1"),
        authentication(12, b"v=a"),
        message(b'!', b""),
        b"HTTP/1.1 400 Bad Request".to_vec(),
        message(b'Z', b"I and more"),
        b"R\0\0\0\x01".to_vec(),
    ] {
        let shown = format!("{answer:?}");
        let error = refused(answer);
        let is_named = matches!(
            error,
            ClientError::Message { .. } | ClientError::Protocol { .. }
        );
        assert!(is_named, "{shown}: {error}");
    }
}

#[test]
fn silence_and_hanging_up_while_connecting() {
    let (connection, server) = connect_with(&login(""), |peer| {
        thread::sleep(Duration::from_millis(700));
        drop(peer);
    });
    let error = connection.unwrap_err();
    assert!(matches!(error, ClientError::Timeout { .. }), "{error}");
    server.join().unwrap();
    for said in [Vec::new(), accepted()[..30].to_vec()] {
        let error = refused(said);
        assert!(matches!(error, ClientError::Closed), "{error}");
    }
}

/// A server that encrypts and accepts the login.
fn encrypt(stage: &Stage) -> impl FnOnce(Peer) + Send + use<> {
    let config = Arc::clone(&stage.server);
    move |mut peer| {
        assert_eq!(peer.hear_exactly(8), SSL_REQUEST);
        peer.say_bytes(b"S");
        let mut peer = peer.encrypt(config);
        accept(&mut peer);
        assert_eq!(hear(&mut peer).0, b'Q');
        peer.say_bytes(&[message(b'I', b""), ready()].concat());
    }
}

#[test]
fn encryption_of_every_mode() {
    let stage = Stage::new(&["localhost", "127.0.0.1"]);
    for mode in [
        Tls::Required,
        Tls::VerifyCa(stage.authority()),
        Tls::VerifyFull(stage.authority()),
    ] {
        let (connection, server) = connect_over_tcp_with(&encrypted(mode), encrypt(&stage));
        connection.unwrap().query("").unwrap();
        server.join().unwrap();
    }
}

fn not_encrypted(answer: &'static [u8]) -> ClientError {
    let script = move |mut peer: Peer| {
        assert_eq!(peer.hear_exactly(8), SSL_REQUEST);
        peer.say_bytes(answer);
    };
    let (connection, server): (Result<Connection, _>, _) =
        connect_over_tcp_with(&encrypted(Tls::Required), script);
    server.join().unwrap();
    connection.unwrap_err()
}

#[test]
fn servers_without_encryption() {
    for answer in [&b"N"[..], b"X"] {
        let error = not_encrypted(answer);
        let is_named = matches!(
            error,
            ClientError::Tls {
                source: TlsError::NotOffered,
                ..
            }
        );
        assert!(is_named, "{error}");
    }
    assert!(matches!(not_encrypted(b""), ClientError::Closed));
}

/// A third party could have slipped in the bytes, which would be heard as if they were encrypted.
#[test]
fn nothing_said_in_clear_is_heard_after() {
    let error = not_encrypted(b"SR\0\0\0\x08\0\0\0\0").to_string();
    assert!(error.contains("9 unexpected bytes in clear"), "{error}");
}

#[test]
fn an_error_in_place_of_encryption_is_read() {
    let script = |mut peer: Peer| {
        peer.hear_exactly(8);
        peer.say_bytes(&refusal("FATAL", "53300", "too many"));
    };
    let (connection, server) = connect_over_tcp_with(&encrypted(Tls::Required), script);
    let error = connection.unwrap_err();
    assert!(
        matches!(error, ClientError::Server { code, .. } if code.as_str() == "53300"),
        "{error}"
    );
    server.join().unwrap();
}

#[test]
fn notices_and_settings_come_at_any_time() {
    let (connection, server) = connect_with(&login("secret"), |mut peer| {
        hear_startup(&mut peer);
        peer.say_bytes(&asides());
        peer.say_bytes(&authentication(3, b""));
        hear(&mut peer);
        peer.say_bytes(&asides());
        peer.say_bytes(&accepted());
    });
    assert_eq!(connection.unwrap().connection_id(), 0x0102);
    server.join().unwrap();
}
