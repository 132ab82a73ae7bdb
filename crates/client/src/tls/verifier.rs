//! Proof that a server must give.

use std::path::Path;

use prony_model::Tls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::TlsError;

/// Accepts certificates as a mode of [`Tls`] says.
#[derive(Debug)]
pub(super) struct Verifier {
    trust: Trust,
    algorithms: WebPkiSupportedAlgorithms,
}

#[derive(Debug)]
enum Trust {
    /// Any certificate.
    Any,
    /// One that an authority signed.
    Signed(RootCertStore),
    /// One that an authority signed for the server's name or address.
    SignedForName(RootCertStore),
}

impl Verifier {
    /// Reads the mode's authorities, if it has some.
    pub(super) fn new(mode: &Tls, algorithms: WebPkiSupportedAlgorithms) -> Result<Self, TlsError> {
        let trust = match mode {
            Tls::Off | Tls::Required => Trust::Any,
            Tls::VerifyCa(path) => Trust::Signed(authorities_in(path)?),
            Tls::VerifyFull(path) => Trust::SignedForName(authorities_in(path)?),
            Tls::VerifyFullBy(pem) => {
                let handed_over = Path::new("(handed over with the job)");
                Trust::SignedForName(authorities(pem.as_bytes(), handed_over)?)
            }
        };
        Ok(Self { trust, algorithms })
    }
}

fn authorities_in(path: &Path) -> Result<RootCertStore, TlsError> {
    let pem = std::fs::read(path).map_err(|error| TlsError::Authorities {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    authorities(&pem, path)
}

/// The authorities of a text in PEM, which came from `path`.
fn authorities(pem: &[u8], path: &Path) -> Result<RootCertStore, TlsError> {
    let unusable = |reason: String| TlsError::Authorities {
        path: path.to_owned(),
        reason,
    };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        store
            .add(certificate)
            .map_err(|error| unusable(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(unusable("it has no certificate in PEM".to_owned()));
    }
    Ok(store)
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let (Trust::Signed(authorities) | Trust::SignedForName(authorities)) = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let certificate = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(
            &certificate,
            authorities,
            intermediates,
            now,
            self.algorithms.all,
        )?;
        if matches!(self.trust, Trust::SignedForName(_)) {
            verify_server_name(&certificate, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trust {
            // Whoever stands in between may bring a certificate of his own, so that his signature
            // proves nothing; and certificates of old servers are of a kind that can't be read.
            Trust::Any => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls12_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trust {
            // As above.
            Trust::Any => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls13_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
