//! A port for a server that is reached over TCP.

use std::net::{Ipv4Addr, TcpListener};

use super::InstanceError;
use crate::digest::random;

/// The address that servers listen on: nobody else on the network can connect.
pub(super) const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Below the range that the kernel takes the ports of outgoing connections from (`ip(7)`, by
/// default 32768 and up), so that no connection takes it before the server does.
pub(super) const FIRST: u16 = 20_000;
pub(super) const COUNT: u16 = 12_000;
/// Ports that are tried; so many in a row are not in use by chance.
pub(super) const ATTEMPTS: u16 = 100;

/// A free port. Drawn at random, so that two processes that look at the same
/// time hardly find the same one.
pub(super) fn free() -> Result<u16, InstanceError> {
    // The lowest bits are as random as all others.
    let [low, high, ..] = random()?.to_le_bytes();
    let start = u16::from_le_bytes([low, high]) % COUNT;
    free_from(start).ok_or(InstanceError::Ports)
}

/// The first free port of some, beginning `start` behind the first of all.
fn free_from(start: u16) -> Option<u16> {
    (0..ATTEMPTS)
        .map(|step| FIRST + (start + step) % COUNT)
        .find(|port| TcpListener::bind((HOST, *port)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_not_taken() {
        let first = free().unwrap();
        let _listener = TcpListener::bind((HOST, first)).unwrap();
        let next = free_from(first - FIRST).unwrap();
        assert_ne!(next, first);
    }

    #[test]
    fn ports_stay_in_their_range() {
        let last = free_from(COUNT - 1).unwrap();
        assert!((FIRST..FIRST + COUNT).contains(&last));
    }
}
