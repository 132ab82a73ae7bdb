//! Logging in to real servers: every way to authenticate, over every transport that the server
//! has, with TLS and without.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

#[path = "../../../tests/live_gate.rs"]
mod live_gate;
#[path = "support/server.rs"]
mod server;

use std::io::{ErrorKind, Read, Write};

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use live_gate::live;
use prony_client::{
    Address, ClientError, Connection, Encryption, Login, Opening, OpeningProgress, Socket, Stream,
    TlsError,
};
use prony_model::{Family, OptionOrigin, RenderedOption, Tls};
use rcgen::{CertificateParams, KeyPair};
use rsa::RsaPrivateKey;
use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey, LineEnding};
use rustix::event::{PollFd, PollFlags, poll};
use server::{Certificate, LIMIT, Server};

const PASSWORD: &str = "a secret of more than twenty bytes";

impl Server {
    /// Makes an account for TCP and one for the socket. `proof` is what follows the name.
    fn account(&self, user: &str, proof: &str) {
        for host in ["127.0.0.1", "localhost"] {
            self.admin(&format!("CREATE USER '{user}'@'{host}' {proof}"));
        }
    }

    /// Logs in over TCP and over the socket, twice, for servers that remember who was there, and
    /// sees wrong passwords refused.
    fn check(&self, user: &str, password: &str, tls: &Tls, plugin: &str) {
        for address in [self.running.address(), self.running.admin_address()] {
            for _ in 0..2 {
                let mut connection = connect(&address, user, password, tls)
                    .unwrap_or_else(|error| panic!("{user}: {error}"));
                let who = connection.query("SELECT USER()").unwrap();
                assert!(who.single().unwrap().starts_with(user), "{who:?}");
                let cipher = connection
                    .query("SHOW STATUS LIKE 'Ssl_cipher'")
                    .unwrap()
                    .rows
                    .first()
                    .and_then(|row| row[1].clone());
                let is_encrypted = cipher.is_some_and(|cipher| !cipher.is_empty());
                assert_eq!(is_encrypted, *tls != Tls::Off, "{user} at {address}");
                open(&address, user, password, tls).unwrap();
            }
            for wrong in ["wrong", ""].into_iter().filter(|wrong| *wrong != password) {
                let error = connect(&address, user, wrong, tls).unwrap_err();
                let shown = error.to_string();
                let error = open(&address, user, wrong, tls).unwrap_err();
                assert_eq!(error.to_string(), shown);
                let address = address.to_string();
                for word in [user, plugin, &address, "error 1045", "check the password"] {
                    assert!(shown.contains(word), "{word} in {shown}");
                }
            }
        }
    }

    /// What a server without a certificate, or with an old library, makes of TLS.
    fn tls_error(&self) -> TlsError {
        let load = self.running.load_login();
        let address = self.running.address();
        match connect(&address, &load.user, &load.password, &Tls::Required) {
            Err(ClientError::Tls { source, .. }) => source,
            other => panic!("expected an error of TLS, got {other:?}"),
        }
    }
}

fn connect(
    address: &Address,
    user: &str,
    password: &str,
    tls: &Tls,
) -> Result<Connection, ClientError> {
    Connection::connect(address, &login(user, password, tls), LIMIT)
}

fn login(user: &str, password: &str, tls: &Tls) -> Login {
    Login {
        family: Family::Mysql,
        user: user.to_owned(),
        password: password.to_owned(),
        database: None,
        tls: tls.clone(),
    }
}

/// Logs in and prepares without blocking.
fn open(address: &Address, user: &str, password: &str, tls: &Tls) -> Result<(), ClientError> {
    let login = login(user, password, tls);
    let statements = ["SELECT ?", "DO 1"].map(str::to_owned);
    let mut opening = Opening::new(address, &login, statements);
    let encryption = (*tls != Tls::Off).then(|| Encryption::new(address, tls).unwrap());
    let socket = Socket::begin_connect(address).unwrap();
    let mut stream = Stream::new(socket, encryption.as_ref()).unwrap();
    let mut buffer = [0; 1000];
    let mut out = Vec::new();
    let mut progress = OpeningProgress::More;
    while progress != OpeningProgress::Done {
        let readable = PollFd::new(stream.socket(), PollFlags::IN);
        poll(&mut [readable], None).unwrap();
        let count = match stream.read(&mut buffer) {
            // A part of the handshake came, and is answered.
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            count => count.unwrap(),
        };
        assert!(count > 0, "the server hung up");
        out.clear();
        progress = opening.feed(&buffer[..count], &mut out)?;
        stream.write_all(&out).unwrap();
        if progress == OpeningProgress::Encrypt {
            stream.encrypt().unwrap();
            out.clear();
            opening.encrypted(&mut out)?;
            stream.write_all(&out).unwrap();
        }
        stream.flush().unwrap();
    }
    let params: Vec<u16> = opening.prepared().iter().map(|it| it.params).collect();
    assert_eq!(params, [1, 0], "{user} at {address}");
    Ok(())
}

/// What makes an account with a password, for a plugin where it has a name.
fn identified(plugin: &str) -> String {
    match plugin {
        "" => format!("IDENTIFIED BY '{PASSWORD}'"),
        plugin => format!("IDENTIFIED WITH {plugin} BY '{PASSWORD}'"),
    }
}

#[test]
fn servers_with_one_kind_of_hash() {
    if !live() {
        return;
    }
    for id in ["mysql-5.0.21", "mysql-5.5.34", "mysql-5.7.22"] {
        let server = Server::start(id, Certificate::No);
        server.account("somebody", &identified(""));
        server.account("nobody", "");
        server.check("somebody", PASSWORD, &Tls::Off, "mysql_native_password");
        server.check("nobody", "", &Tls::Off, "mysql_native_password");
        assert!(matches!(server.tls_error(), TlsError::NotOffered), "{id}");
    }
}

#[test]
fn passwords_under_the_servers_key() {
    if !live() {
        return;
    }
    for id in ["mysql-8.0.31", "mysql-9.7"] {
        let server = Server::start(id, Certificate::No);
        for plugin in ["caching_sha2_password", "sha256_password"] {
            let user = plugin.split('_').next().unwrap();
            server.account(user, &identified(plugin));
            server.check(user, PASSWORD, &Tls::Off, plugin);
            let nobody = format!("no_{user}");
            server.account(&nobody, &format!("IDENTIFIED WITH {plugin} BY ''"));
            server.check(&nobody, "", &Tls::Off, plugin);
        }
    }
}

#[test]
fn passwords_inside_tls() {
    if !live() {
        return;
    }
    for (id, plugins) in [
        (
            "mysql-5.7.29",
            &["mysql_native_password", "sha256_password"][..],
        ),
        (
            "mysql-8.0.31",
            &[
                "mysql_native_password",
                "sha256_password",
                "caching_sha2_password",
            ],
        ),
    ] {
        let server = Server::start(id, Certificate::Yes);
        let load = server.running.load_login();
        let Tls::VerifyFull(authority) = &load.tls else {
            panic!("{id} has no certificate");
        };
        for plugin in plugins {
            let user = plugin.split('_').nth_back(1).unwrap();
            server.account(user, &identified(plugin));
            for mode in [
                Tls::Required,
                Tls::VerifyCa(authority.clone()),
                Tls::VerifyFull(authority.clone()),
            ] {
                server.check(user, PASSWORD, &mode, plugin);
            }
        }
    }
}

#[test]
fn signatures_for_mariadb() {
    if !live() {
        return;
    }
    let server = Server::start("mariadb-10.11", Certificate::Yes);
    server.admin("INSTALL SONAME 'auth_ed25519'");
    server.account("native", &identified(""));
    let proof = format!("IDENTIFIED VIA ed25519 USING PASSWORD('{PASSWORD}')");
    server.account("signer", &proof);
    for tls in [Tls::Off, Tls::Required, server.running.load_login().tls] {
        server.check("native", PASSWORD, &tls, "mysql_native_password");
        server.check("signer", PASSWORD, &tls, "client_ed25519");
    }
}

/// The certificate is of a kind that its library can read, so that the handshake fails for the
/// version alone.
#[test]
fn servers_that_speak_old_tls_only() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let key = RsaPrivateKey::new(&mut UnwrapErr(SysRng), 2048).unwrap();
    let path = |name: &str| folder.path().join(name);
    let pem = key.to_pkcs1_pem(LineEnding::LF).unwrap();
    std::fs::write(path("key.pem"), pem.as_bytes()).unwrap();
    let key = KeyPair::from_pem(&key.to_pkcs8_pem(LineEnding::LF).unwrap()).unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    std::fs::write(path("cert.pem"), certificate.pem()).unwrap();
    let server = Server::start_with("mysql-5.7.22", Certificate::No, |rendered| {
        rendered.options.retain(|option| option.name != "skip-ssl");
        for (name, file) in [
            ("ssl-ca", "cert.pem"),
            ("ssl-cert", "cert.pem"),
            ("ssl-key", "key.pem"),
        ] {
            let text = format!("{name}={}", path(file).display());
            let option = RenderedOption::new(&text, OptionOrigin::Raw, None, "this test");
            rendered.options.push(option);
        }
    });
    let error = server.tls_error();
    assert!(matches!(error, TlsError::TooOld { .. }), "{error}");
}
