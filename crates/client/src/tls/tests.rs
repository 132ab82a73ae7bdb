//! Against fake servers.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use prony_wire::append_packet;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustix::event::{PollFd, PollFlags, poll};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tempfile::TempDir;

use super::*;
use crate::testing::{
    NATIVE, OK, Peer, connect_over_tcp_with, connect_with, greeting, listen, login, native,
};
use crate::{ClientError, Connection, Login, Opening, OpeningProgress, Stream};

/// An authority, its certificate in a file, and a server that it signed for.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) server: Arc<ServerConfig>,
}

impl Stage {
    /// With a server that has a certificate for these names and addresses.
    pub(crate) fn new(names: &[&str]) -> Self {
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

    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A server that encrypts, accepts the login, and answers one statement.
    fn script(&self) -> impl FnOnce(Peer) + Send + use<> {
        let accept = self.accept();
        move |peer| {
            let mut peer = accept(peer);
            peer.hear();
            peer.say(OK);
        }
    }

    /// A server that encrypts and accepts the login.
    fn accept(&self) -> impl FnOnce(Peer) -> Peer + Send + use<> {
        let config = Arc::clone(&self.server);
        move |mut peer| {
            assert_eq!(peer.offer_tls().len(), 32);
            let mut peer = peer.encrypt(config);
            let proof = native("secret", b"abcdefghijklmnopqrst");
            assert!(peer.hear().windows(20).any(|window| window == proof));
            peer.say(OK);
            peer
        }
    }
}

/// Connects without blocking to a server that plays the script.
fn open_with(
    mode: Tls,
    script: impl FnOnce(Peer) + Send + 'static,
) -> (Result<(), ClientError>, JoinHandle<()>) {
    let (_folder, address, server) = listen(script);
    (open(&address, &login_with(mode)), server)
}

fn open(address: &Address, login: &Login) -> Result<(), ClientError> {
    let failed = |source| ClientError::Io { source };
    let encryption = Encryption::new(address, &login.tls).unwrap();
    let socket = Socket::begin_connect(address).unwrap();
    let mut stream = Stream::new(socket, Some(&encryption)).unwrap();
    let mut opening = Opening::new(address, login, Vec::new());
    let mut buffer = [0; 100];
    loop {
        let readable = PollFd::new(stream.socket(), PollFlags::IN);
        poll(&mut [readable], None).unwrap();
        let count = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            count => count.map_err(failed)?,
        };
        if count == 0 {
            return Err(ClientError::Closed);
        }
        let mut out = Vec::new();
        let progress = opening.feed(&buffer[..count], &mut out)?;
        stream.write_all(&out).map_err(failed)?;
        if progress == OpeningProgress::Done {
            return Ok(());
        }
        if progress == OpeningProgress::Encrypt {
            stream.encrypt().map_err(failed)?;
            out.clear();
            opening.encrypted(&mut out).unwrap();
            stream.write_all(&out).map_err(failed)?;
        }
        stream.flush().map_err(failed)?;
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
fn handshakes_do_not_block() {
    let stage = Stage::new(&["localhost"]);
    for mode in [Tls::Required, Tls::VerifyFull(stage.authority())] {
        let accept = stage.accept();
        let (opened, server) = open_with(mode, |peer| drop(accept(peer)));
        opened.unwrap();
        server.join().unwrap();
    }
}

#[test]
fn handshakes_that_fail_without_blocking() {
    for (bytes, word) in [
        (vec![21, 3, 1, 0, 2, 2, 80], "InternalError"),
        (
            b"\x1a\0\0\x02\xff\x13\x04#08S01Bad handshake".to_vec(),
            "corrupt",
        ),
        (Vec::new(), "closed connection"),
    ] {
        let (opened, server) = open_with(Tls::Required, move |mut peer| {
            peer.offer_tls();
            assert_ne!(peer.hear_bytes(), 0);
            peer.say_bytes(&bytes);
        });
        let error = opened.unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        server.join().unwrap();
    }
    let stage = Stage::new(&["db.example"]);
    let accept = stage.accept();
    let mode = Tls::VerifyFull(stage.authority());
    let (opened, server) = open_with(mode, |peer| drop(accept(peer)));
    let error = opened.unwrap_err().to_string();
    assert!(error.contains("not valid for name"), "{error}");
    server.join().unwrap_err();
}

#[test]
fn streams_made_without_encryption_get_none_later() {
    let (_folder, address, server) = listen(|mut peer| assert!(peer.has_hung_up()));
    let socket = Socket::begin_connect(&address).unwrap();
    let mut stream = Stream::new(socket, None).unwrap();
    assert!(stream.encrypt().is_err());
    drop(stream);
    server.join().unwrap();
}

#[test]
fn certificates_are_trusted_as_far_as_asked() {
    let stage = Stage::new(&["db.example"]);
    let other = Stage::new(&["127.0.0.1"]);
    for (mode, word) in [
        (Tls::Required, None),
        (Tls::VerifyCa(stage.authority()), None),
        (
            Tls::VerifyFull(stage.authority()),
            Some("a name in the certificate"),
        ),
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
    assert!(
        error
            .to_string()
            .contains("unexpected bytes without encryption"),
        "{error}"
    );
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

/// Reads broken off by a signal, as many as it says, then the end.
struct Interrupted(u8);

impl Read for Interrupted {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0.checked_sub(1) {
            None => Ok(0),
            Some(left) => {
                self.0 = left;
                Err(ErrorKind::Interrupted.into())
            }
        }
    }
}

#[test]
fn a_read_that_a_signal_breaks_off_is_read_again() {
    let address = Address::Tcp("127.0.0.1:1".parse().unwrap());
    let encryption = Encryption::new(&address, &Tls::Required).unwrap();
    let mut tls = ClientConnection::new(encryption.config, encryption.name).unwrap();
    let mut socket = Interrupted(2);
    assert_eq!(receive(&mut tls, &mut socket).unwrap(), 0);
    assert_eq!(socket.0, 0);
}
