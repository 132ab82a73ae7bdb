//! A port for a server that is reached over TCP.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};

/// Where servers listen: nobody else on the network can connect.
pub(super) const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Below the range that the kernel takes the ports of outgoing connections from (`ip(7)`, by
/// default 32768 and up), so that no connection takes it before the server does.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;
/// So many ports in a row are not in use by chance.
const ATTEMPTS: u16 = 100;

/// A port that nobody listens on. Drawn by chance, so that two processes that look at the same
/// time hardly find the same one.
pub(super) fn free() -> io::Result<u16> {
    let mut bytes = [0; 2];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let start = u16::from_ne_bytes(bytes) % COUNT;
    (0..ATTEMPTS)
        .map(|step| FIRST + (start + step) % COUNT)
        .find(|port| TcpListener::bind((HOST, *port)).is_ok())
        .ok_or_else(|| io::Error::other("every port that was tried is in use"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_not_taken() {
        let first = free().unwrap();
        let _listener = TcpListener::bind((HOST, first)).unwrap();
        for _ in 0..50 {
            let port = free().unwrap();
            assert_ne!(port, first);
            assert!((FIRST..FIRST + COUNT).contains(&port));
        }
    }
}
