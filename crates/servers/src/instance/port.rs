//! A port for a server that is reached over TCP.

use std::net::{IpAddr, Ipv4Addr, TcpListener};

use super::InstanceError;
use crate::digest::random;

/// The address that servers listen on where the user names none: nobody else on the network can
/// connect.
pub(super) const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Below the range that the kernel takes the ports of outgoing connections from (`ip(7)`, by
/// default 32768 and up), so that no connection takes it before the server does.
pub(super) const FIRST: u16 = 20_000;
pub(super) const COUNT: u16 = 12_000;
/// Ports that are tried; so many in a row are not in use by chance.
pub(super) const ATTEMPTS: u16 = 100;

/// A port for a server that nothing listens on at an address of this host. Drawn at random, so that two
/// processes that look at the same time hardly find the same one.
///
/// # Errors
/// If the address is not one of this host, or too many ports are in use.
pub fn free(host: IpAddr) -> Result<u16, InstanceError> {
    // The lowest bits are as random as all others.
    let [low, high, ..] = random()?.to_le_bytes();
    let start = u16::from_le_bytes([low, high]) % COUNT;
    free_from(host, start).ok_or(InstanceError::Ports { host })
}

/// The first free port of some, beginning `start` behind the first of all.
fn free_from(host: IpAddr, start: u16) -> Option<u16> {
    (0..ATTEMPTS)
        .map(|step| FIRST + (start + step) % COUNT)
        .find(|port| TcpListener::bind((host, *port)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_not_taken() {
        let first = free(HOST).unwrap();
        let _listener = TcpListener::bind((HOST, first)).unwrap();
        let next = free_from(HOST, first - FIRST).unwrap();
        assert_ne!(next, first);
    }

    #[test]
    fn ports_stay_in_their_range() {
        let last = free_from(HOST, COUNT - 1).unwrap();
        assert!((FIRST..FIRST + COUNT).contains(&last));
    }
}
