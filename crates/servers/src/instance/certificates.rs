//! Certificates for servers that are asked to encrypt: an authority of our own and one server
//! certificate, made once for each cache folder. Nobody but the owner of the cache can read the
//! keys, and nothing outside Prony trusts the authority.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use prony_host::{
    At, FileLock, IoError, OwnedFolder, Roots, STAGING, create_private, remove_abandoned, retire,
    write_private,
};
use prony_model::StopFlag;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// The names that clients connect to, and compare with the certificate.
const NAMES: [&str; 2] = ["localhost", "127.0.0.1"];
/// Changes whenever certificates of an older Prony become unusable.
const FOLDER: &str = "local-1";
/// No build has a name like this.
const LOCK: &str = ".certificates.lock";

/// Files in the PEM format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    /// The certificates of a cache, made if there are none. Servers that are reached from another host
    /// need those for their `address`.
    pub(crate) fn ensure(roots: &Roots, address: Option<IpAddr>) -> Result<Self, IoError> {
        let shelf = roots.certificates();
        let folder = match address {
            None => FOLDER.to_owned(),
            // Colons separate paths in some options.
            Some(address) => format!("{FOLDER}-{}", address.to_string().replace(':', "_")),
        };
        let certificates = Self {
            folder: shelf.join(folder),
        };
        if certificates.complete() {
            return Ok(certificates);
        }
        let locks = roots.locks();
        create_private(&locks)?;
        // Nobody else takes them away or makes them meanwhile. It takes no time, so that nobody
        // needs to stop it.
        let lock = locks.join(LOCK);
        let _lock = FileLock::acquire(&lock, &StopFlag::default(), &mut || ())?;
        if certificates.complete() {
            return Ok(certificates);
        }
        remove_abandoned(&shelf, STAGING)?;
        let staging = OwnedFolder::create(&shelf, STAGING)?;
        let folder = staging.path().to_owned();
        Self { folder }.make(address)?;
        if certificates.folder.exists() {
            retire(&certificates.folder)?;
        }
        staging.publish(&certificates.folder)?;
        Ok(certificates)
    }

    /// The authority's certificate.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// The server's certificate.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.join("server-cert.pem")
    }

    /// The key of that.
    pub(crate) fn key(&self) -> PathBuf {
        self.folder.join("server-key.pem")
    }

    /// The options of MySQL and MariaDB, with their files.
    pub(crate) fn options(&self) -> [(&str, PathBuf); 3] {
        [
            ("ssl-ca", self.authority()),
            ("ssl-cert", self.certificate()),
            ("ssl-key", self.key()),
        ]
    }

    fn complete(&self) -> bool {
        self.options().iter().all(|(_, path)| path.is_file())
    }

    fn make(&self, address: Option<IpAddr>) -> Result<(), IoError> {
        let (authority, certificate, key) = texts(address)
            .map_err(io::Error::other)
            .at("make certificates in", &self.folder)?;
        for ((_, path), text) in self.options().iter().zip([authority, certificate, key]) {
            write_private(path, text.as_bytes())?;
        }
        Ok(())
    }
}

/// The authority's certificate, the server's, and the server's key. The authority's key is
/// forgotten: it signs nothing else.
fn texts(address: Option<IpAddr>) -> Result<(String, String, String), rcgen::Error> {
    let mut params = valid(CertificateParams::default(), "Prony, local servers");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;

    let address = address.map(|address| address.to_string());
    let names = NAMES.map(str::to_owned).into_iter().chain(address);
    let mut params = valid(
        CertificateParams::new(names.collect::<Vec<_>>())?,
        "localhost",
    );
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &authority)?;
    Ok((authority.pem(), certificate.pem(), key.serialize_pem()))
}

/// Dates on the near side of 2050, which every library reads alike, RFC 5280 section 4.1.2.5.
fn valid(mut params: CertificateParams, name: &str) -> CertificateParams {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2049, 12, 31);
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn certificates_are_made_once_and_are_private() {
        let root = tempfile::tempdir().unwrap();
        let roots = Roots {
            cache: root.path().to_owned(),
        };
        let first = Certificates::ensure(&roots, None).unwrap();
        let text = fs::read_to_string(first.authority()).unwrap();
        assert!(text.starts_with("-----BEGIN CERTIFICATE-----"), "{text}");
        for (_, path) in first.options() {
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
        assert_eq!(Certificates::ensure(&roots, None).unwrap(), first);
        assert_eq!(fs::read_to_string(first.authority()).unwrap(), text);
        assert_eq!(fs::read_dir(roots.certificates()).unwrap().count(), 1);
    }

    #[test]
    fn who_comes_at_the_same_time_gets_the_same() {
        let root = tempfile::tempdir().unwrap();
        let roots = Roots {
            cache: root.path().to_owned(),
        };
        // Something to be replaced: the first to find it must not take away what another made.
        let first = Certificates::ensure(&roots, None).unwrap();
        fs::remove_file(first.authority()).unwrap();
        let texts = std::thread::scope(|scope| {
            let ask = || {
                let made = Certificates::ensure(&roots, None).unwrap();
                fs::read_to_string(made.authority()).unwrap()
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            let all = all.into_iter().map(|thread| thread.join().unwrap());
            all.collect::<std::collections::BTreeSet<_>>()
        });
        assert_eq!(texts.len(), 1);
    }

    #[test]
    fn what_is_not_whole_is_made_again() {
        let root = tempfile::tempdir().unwrap();
        let roots = Roots {
            cache: root.path().to_owned(),
        };
        let first = Certificates::ensure(&roots, None).unwrap();
        fs::remove_file(first.authority()).unwrap();
        assert!(Certificates::ensure(&roots, None).unwrap().complete());
    }
}
