//! Against fake servers.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use prony_wire::append_packet;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tempfile::TempDir;

use super::*;
use crate::testing::{
    NATIVE, OK, Peer, connect_over_tcp_with, connect_with, greeting, login, native,
};
use crate::{ClientError, Connection, Login};

/// An authority, its certificate in a file, and a server that it signed for.
struct Stage {
    folder: TempDir,
    server: Arc<ServerConfig>,
}

impl Stage {
    /// With a server that has a certificate for these names and addresses.
    fn new(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&authority_key).unwrap();
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        let issuer = Issuer::new(params, authority_key);
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names)
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Self {
            folder,
            server: Arc::new(server),
        }
    }

    fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A server that encrypts, accepts the login, and answers one statement.
    fn script(&self) -> impl FnOnce(Peer) + Send + use<> {
        let config = Arc::clone(&self.server);
        move |mut peer| {
            assert_eq!(peer.offer_tls().len(), 32);
            let mut peer = peer.encrypt(config);
            let proof = native("secret", b"abcdefghijklmnopqrst");
            assert!(peer.hear().windows(20).any(|window| window == proof));
            peer.say(OK);
            peer.hear();
            peer.say(OK);
        }
    }
}

fn login_with(tls: Tls) -> Login {
    Login {
        tls,
        ..login("secret")
    }
}

fn tls_error(result: Result<Connection, ClientError>) -> TlsError {
    match result {
        Err(ClientError::Tls { source, .. }) => source,
        other => panic!("expected an error of TLS, got {other:?}"),
    }
}

#[test]
fn every_mode_with_a_server_that_proves_it() {
    let stage = Stage::new(&["localhost", "127.0.0.1"]);
    for mode in [
        Tls::Required,
        Tls::VerifyCa(stage.authority()),
        Tls::VerifyFull(stage.authority()),
    ] {
        let login = login_with(mode);
        for (connection, server) in [
            connect_with(&login, stage.script()),
            connect_over_tcp_with(&login, stage.script()),
        ] {
            connection.unwrap().query("DO 1").unwrap();
            server.join().unwrap();
        }
    }
}

#[test]
fn certificates_are_trusted_as_far_as_asked() {
    let stage = Stage::new(&["db.example"]);
    let other = Stage::new(&["127.0.0.1"]);
    for (mode, word) in [
        (Tls::Required, None),
        (Tls::VerifyCa(stage.authority()), None),
        (Tls::VerifyFull(stage.authority()), Some("made out to")),
        (
            Tls::VerifyCa(other.authority()),
            Some("authority that signed"),
        ),
        (
            Tls::VerifyFull(other.authority()),
            Some("authority that signed"),
        ),
    ] {
        let script = stage.script();
        let (connection, server) = connect_over_tcp_with(&login_with(mode), script);
        match word {
            None => {
                connection.unwrap().query("DO 1").unwrap();
                server.join().unwrap();
            }
            Some(word) => {
                let error = tls_error(connection);
                assert!(matches!(error, TlsError::Certificate { .. }), "{error}");
                assert!(error.to_string().contains(word), "{error}");
                // The script ends where the client hangs up.
                server.join().unwrap_err();
            }
        }
    }
}

#[test]
fn servers_without_tls() {
    let (connection, server) = connect_with(&login_with(Tls::Required), |mut peer| {
        peer.greet(NATIVE);
        assert!(peer.has_hung_up());
    });
    assert!(matches!(tls_error(connection), TlsError::NotOffered));
    server.join().unwrap();
}

#[test]
fn handshakes_that_fail() {
    let alert = |code| vec![21, 3, 1, 0, 2, 2, code];
    for (bytes, word) in [
        // Old servers share no version or no cipher with us.
        (alert(70), "yaSSL"),
        (alert(40), "yaSSL"),
        (b"\x15\0\0\0\x02\x02\x28".to_vec(), "yaSSL"),
        (alert(80), "InternalError"),
        (
            b"\x1a\0\0\x02\xff\x13\x04#08S01Bad handshake".to_vec(),
            "corrupt",
        ),
        (Vec::new(), "closed the connection"),
    ] {
        let (connection, server) = connect_with(&login_with(Tls::Required), move |mut peer| {
            peer.offer_tls();
            assert_ne!(peer.hear_bytes(), 0);
            peer.say_bytes(&bytes);
        });
        let error = tls_error(connection);
        assert!(error.to_string().contains(word), "{error}");
        server.join().unwrap();
    }
}

#[test]
fn silence_in_the_handshake() {
    let (connection, server) = connect_with(&login_with(Tls::Required), |mut peer| {
        peer.offer_tls();
        thread::sleep(Duration::from_millis(700));
    });
    assert!(matches!(tls_error(connection), TlsError::Silent));
    server.join().unwrap();
}

/// Whoever stands in between could slip in an answer before TLS begins.
#[test]
fn nothing_said_in_clear_is_heard_after() {
    let (connection, server) = connect_with(&login_with(Tls::Required), |mut peer| {
        let mut both = Vec::new();
        append_packet(&mut both, 0, &greeting(0xff, NATIVE));
        append_packet(&mut both, 2, OK);
        peer.say_bytes(&both);
        peer.hear();
    });
    let error = tls_error(connection);
    assert!(error.to_string().contains("nobody asked for"), "{error}");
    server.join().unwrap();
}

#[test]
fn files_of_authorities() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    for path in [empty, folder.path().join("missing.pem")] {
        let mode = Tls::VerifyCa(path.clone());
        let (connection, server) = connect_with(&login_with(mode), |mut peer| {
            peer.offer_tls();
        });
        let error = tls_error(connection);
        assert!(matches!(error, TlsError::Authorities { .. }), "{error}");
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
        server.join().unwrap();
    }
}
