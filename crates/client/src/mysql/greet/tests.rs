//! Ways to authenticate, against fake servers.

use std::sync::LazyLock;

use rsa::pkcs8::{EncodePublicKey, LineEnding};
use rsa::{Oaep, RsaPrivateKey};
use sha1::Sha1;

use super::*;
use crate::testing::{NATIVE, OK, Peer, SHA2, SHA256, connect, connect_over_tcp, native};

const NONCE: &[u8] = b"abcdefghijklmnopqrst";
const DENIED: &[u8] = b"\xff\x15\x04#28000Access denied";

static KEY: LazyLock<RsaPrivateKey> =
    LazyLock::new(|| RsaPrivateKey::new(&mut UnwrapErr(SysRng), 1024).unwrap());

/// The server's part with a public key: it sends the key and reads the password.
fn exchange_key(peer: &mut Peer) -> Vec<u8> {
    let pem = KEY
        .to_public_key()
        .to_public_key_pem(LineEnding::LF)
        .unwrap();
    peer.say(format!("\x01{pem}").as_bytes());
    let masked = KEY.decrypt(Oaep::<Sha1>::new(), &peer.hear()).unwrap();
    masked
        .iter()
        .zip(NONCE.iter().cycle())
        .map(|(byte, mask)| byte ^ mask)
        .collect()
}

#[test]
fn native_password_and_goodbye() {
    let (connection, server) = connect("secret", |mut peer| {
        peer.greet(NATIVE);
        let login = peer.hear();
        let proof = native("secret", b"abcdefghijklmnopqrst");
        assert!(login.windows(20).any(|window| window == proof));
        peer.say(OK);
        assert_eq!(peer.hear(), [1]);
    });
    let connection = connection.unwrap();
    assert_eq!(connection.server_version(), "8.0.31");
    assert_eq!(connection.connection_id(), 42);
    drop(connection);
    server.join().unwrap();
}

#[test]
fn caching_sha2_in_both_ways() {
    for full in [false, true] {
        let (connection, server) = connect("secret", move |mut peer| {
            peer.greet(SHA2);
            peer.hear();
            if full {
                peer.say(&[1, 4]);
                assert_eq!(peer.hear(), b"secret\0");
            } else {
                peer.say(&[1, 3]);
            }
            peer.say(OK);
        });
        connection.unwrap();
        server.join().unwrap();
    }
}

#[test]
fn switches_when_asked_to() {
    let (connection, server) = connect("secret", |mut peer| {
        peer.greet(SHA2);
        peer.hear();
        peer.say(b"\xfemysql_native_password\0tsrqponmlkjihgfedcba\0");
        let proof = native("secret", b"tsrqponmlkjihgfedcba");
        assert_eq!(peer.hear(), proof);
        peer.say(OK);
    });
    connection.unwrap();
    server.join().unwrap();
}

#[test]
fn unknown_ways_to_authenticate_are_named() {
    for (request, word) in [(&b"\xfe"[..], "MySQL 4.0"), (b"\xfedialog\0x\0", "dialog")] {
        let (connection, server) = connect("secret", move |mut peer| {
            peer.greet(NATIVE);
            peer.hear();
            peer.say(request);
        });
        let error = connection.unwrap_err();
        assert!(matches!(error, ClientError::Authentication { .. }));
        let shown = error.to_string();
        assert!(shown.contains(word) && !shown.contains("secret"), "{shown}");
        server.join().unwrap();
    }
}

#[test]
fn passwords_cross_tcp_under_the_servers_key() {
    let (connection, server) = connect_over_tcp("secret", |mut peer| {
        peer.greet(SHA2);
        peer.hear();
        peer.say(&[1, 4]);
        assert_eq!(peer.hear(), [2]);
        assert_eq!(exchange_key(&mut peer), b"secret\0");
        peer.say(OK);
    });
    connection.unwrap();
    server.join().unwrap();
    let (connection, server) =
        connect_over_tcp("a password of more than twenty bytes", |mut peer| {
            peer.greet(SHA256);
            assert!(peer.hear().ends_with(b"\x01\x01test\0sha256_password\0"));
            assert_eq!(
                exchange_key(&mut peer),
                b"a password of more than twenty bytes\0"
            );
            peer.say(OK);
        });
    connection.unwrap();
    server.join().unwrap();
}

#[test]
fn keys_that_are_none() {
    for key in [
        &b"\x01garbage"[..],
        b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n",
    ] {
        let (connection, server) = connect_over_tcp("secret", move |mut peer| {
            peer.greet(SHA2);
            peer.hear();
            peer.say(&[1, 4]);
            peer.hear();
            peer.say(key);
        });
        let error = connection.unwrap_err();
        assert!(matches!(error, ClientError::PublicKey { .. }), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
        server.join().unwrap();
    }
}

#[test]
fn a_key_that_nobody_asked_for() {
    let (connection, server) = connect("secret", |mut peer| {
        peer.greet(NATIVE);
        peer.hear();
        peer.say(b"\x01-----BEGIN PUBLIC KEY-----\n");
        assert!(peer.has_hung_up());
    });
    let shown = connection.unwrap_err().to_string();
    assert!(shown.contains("more than mysql_native_password"), "{shown}");
    server.join().unwrap();
}

#[test]
fn servers_without_a_key_are_named_as_such() {
    for (plugin, request) in [(SHA2, true), (SHA256, false)] {
        let (connection, server) = connect_over_tcp("secret", move |mut peer| {
            peer.greet(plugin);
            peer.hear();
            if request {
                peer.say(&[1, 4]);
                peer.hear();
            }
            peer.say(DENIED);
        });
        let shown = connection.unwrap_err().to_string();
        assert!(shown.contains("RSA key"), "{shown}");
        server.join().unwrap();
    }
}

#[test]
fn sha256_asks_for_the_key_even_over_a_socket() {
    for (password, proof) in [("secret", &b"\x01\x01test"[..]), ("", b"\x01\0test")] {
        let (connection, server) = connect(password, move |mut peer| {
            peer.greet(SHA256);
            let login = peer.hear();
            assert!(login.windows(proof.len()).any(|window| window == proof));
            if !password.is_empty() {
                assert_eq!(exchange_key(&mut peer), b"secret\0");
            }
            peer.say(OK);
        });
        connection.unwrap();
        server.join().unwrap();
    }
}

#[test]
fn ed25519_signs_what_comes_with_the_switch() {
    // The last byte of a nonce may be 0, and belongs to it.
    let nonce: [u8; 32] = std::array::from_fn(|index| 31 - u8::try_from(index).unwrap());
    let (connection, server) = connect("secret", move |mut peer| {
        peer.greet(NATIVE);
        peer.hear();
        peer.say(&[b"\xfeclient_ed25519\0", &nonce[..]].concat());
        let signature = AuthPlugin::Ed25519.answer("secret", &nonce, Channel::Local);
        assert_eq!(Some(peer.hear()), signature);
        peer.say(OK);
    });
    connection.unwrap();
    server.join().unwrap();
}

#[test]
fn clear_passwords_stay_off_open_channels() {
    const SWITCH: &[u8] = b"\xfemysql_clear_password\0";
    let (connection, server) = connect("secret", |mut peer| {
        peer.greet(NATIVE);
        peer.hear();
        peer.say(SWITCH);
        assert_eq!(peer.hear(), b"secret\0");
        peer.say(OK);
    });
    connection.unwrap();
    server.join().unwrap();
    let (connection, server) = connect_over_tcp("secret", |mut peer| {
        peer.greet(NATIVE);
        peer.hear();
        peer.say(SWITCH);
        assert!(peer.has_hung_up());
    });
    let shown = connection.unwrap_err().to_string();
    assert!(shown.contains("mysql_clear_password over TCP"), "{shown}");
    server.join().unwrap();
}

#[test]
fn refusals_name_account_address_and_plugin() {
    for (switch, plugin) in [
        (&b""[..], "caching_sha2_password"),
        (
            b"\xfemysql_native_password\0tsrqponmlkjihgfedcba\0",
            "mysql_native_password",
        ),
        (
            b"\xfesha256_password\0tsrqponmlkjihgfedcba\0",
            "sha256_password",
        ),
        (
            b"\xfeclient_ed25519\0tsrqponmlkjihgfedcbatsrqponmlkji",
            "client_ed25519",
        ),
    ] {
        let (connection, server) = connect("wrong", move |mut peer| {
            peer.greet(SHA2);
            peer.hear();
            if !switch.is_empty() {
                peer.say(switch);
                peer.hear();
            }
            if plugin == "sha256_password" {
                exchange_key(&mut peer);
            }
            peer.say(DENIED);
        });
        let error = connection.unwrap_err();
        let shown = error.to_string();
        for word in [
            "`prony`",
            "/s ",
            plugin,
            "1045",
            "Access denied",
            "check the password",
        ] {
            assert!(shown.contains(word), "{shown}");
        }
        assert!(!shown.contains("wrong"), "{shown}");
        server.join().unwrap();
    }
}
