//! Errors before a connection is encrypted.

use std::io;
use std::path::PathBuf;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

/// Reason why a connection could not be encrypted. Fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The server has no TLS.
    #[error(
        "start TLS: the server does not offer it; give it a certificate (ssl-cert, ssl-key; PostgreSQL: \
         ssl = on, ssl_cert_file, ssl_key_file) or connect without TLS"
    )]
    NotOffered,
    /// The server knows old versions only.
    #[error(
        "negotiate TLS: {reason}; Prony supports TLS 1.2 and 1.3, but servers built with yaSSL \
         (such as MySQL 5.7.22 and MariaDB 10.2) support at most 1.1: measure these without TLS"
    )]
    TooOld {
        /// Description of the problem.
        reason: String,
    },
    /// The server's certificate was not accepted.
    #[error("trust the server: {reason}; {remedy}")]
    Certificate {
        /// Description of the problem.
        reason: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The file of certificate authorities can't be used.
    #[error("read certificate authorities from {}: {reason}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        reason: String,
    },
    /// The server closed the connection before it was encrypted.
    #[error(
        "negotiate TLS: the server closed the connection; its log may contain the reason. Servers \
         that support at most TLS 1.1 also do this: measure these without TLS"
    )]
    Closed,
    /// The server said nothing for as long as it was allowed to.
    #[error("negotiate TLS: the server did not answer in time")]
    Silent,
    /// The handshake failed in another way.
    #[error("negotiate TLS: {reason}")]
    Handshake {
        /// The cause.
        reason: String,
    },
    /// The system failed to carry the bytes.
    #[error("negotiate TLS: {source}")]
    Io {
        /// The system's reason.
        source: io::Error,
    },
}

impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        match error {
            // What yaSSL answers differs from build to build.
            rustls::Error::PeerIncompatible(_)
            | rustls::Error::InvalidMessage(InvalidMessage::UnknownProtocolVersion)
            | rustls::Error::AlertReceived(
                AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
            ) => Self::TooOld {
                reason: error.to_string(),
            },
            rustls::Error::InvalidCertificate(error) => {
                let (reason, remedy) = explain(&error);
                Self::Certificate { reason, remedy }
            }
            error => Self::Handshake {
                reason: error.to_string(),
            },
        }
    }
}

/// Problem of a certificate, and its remedy.
fn explain(error: &CertificateError) -> (String, &'static str) {
    let remedy = match error {
        // Authorities of the same name have different keys.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            let reason = "its certificate is not signed by a known authority".to_owned();
            return (reason, "verify it with the authority that signed it");
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "connect to a name in the certificate, or verify the authority only"
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => "give the server a current one",
        // Certificates of X.509 version 1, which the openssl command makes where nothing else is
        // asked for.
        CertificateError::Other(other) => {
            let reason = format!("its certificate can't be read: {other}");
            return (
                reason,
                "give the server one of X.509 version 3, or don't verify it",
            );
        }
        _ => "give the server another one, or don't verify it",
    };
    (error.to_string(), remedy)
}
