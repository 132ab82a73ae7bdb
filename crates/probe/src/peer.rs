//! The process at the other end of a connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::Path;

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::net::{getpeername, getsockname};

use crate::root::Root;

/// Reason why the process at the other end is not known. Fits after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// The kernel names no process: it is in another PID namespace.
    #[error("find the server's process: it belongs to another container; run Prony on the host")]
    Namespace,
    /// The listening socket belongs to the init process, which made it for the server.
    #[error(
        "find the server's process: the init process made its socket; connect over TCP on the \
         loopback interface"
    )]
    SocketOfInit,
    /// No socket of this host is the other end.
    #[error("find the server's process: it is not on this host, or in another network namespace")]
    Elsewhere,
    /// No process shows that the socket is its own.
    #[error(
        "find the server's process: this user may not see its open files; run Prony as root or as \
         the server's user"
    )]
    Hidden,
    /// The kernel refuses.
    #[error("find the server's process: {0}")]
    Socket(#[source] rustix::io::Errno),
}

/// Process id of the server at the other end of a connected socket: over a unix socket the process
/// that listens, over TCP on this host the process that holds the other end.
///
/// # Errors
/// If it is on another host or in another namespace, or its open files can't be read.
pub fn peer_process(root: &Root, socket: &impl AsFd) -> Result<u32, PeerError> {
    // A unix socket's peer has a name at most, which is no address of a host.
    let peer = getpeername(socket).map_err(PeerError::Socket)?;
    let Some(Ok(peer)) = peer.map(SocketAddr::try_from) else {
        return listener(socket);
    };
    let own = getsockname(socket).map_err(PeerError::Socket)?;
    let own = SocketAddr::try_from(own).map_err(PeerError::Socket)?;
    let inode = inode_of(root, plain(peer), plain(own)).ok_or(PeerError::Elsewhere)?;
    holder(root, inode).ok_or(PeerError::Hidden)
}

/// The process that listens on a unix socket.
fn listener(socket: &impl AsFd) -> Result<u32, PeerError> {
    let credentials = getsockopt(&socket.as_fd(), PeerCredentials)
        .map_err(|errno| PeerError::Socket(rustix::io::Errno::from_raw_os_error(errno as i32)))?;
    match u32::try_from(credentials.pid()) {
        Ok(0) | Err(_) => Err(PeerError::Namespace),
        Ok(1) => Err(PeerError::SocketOfInit),
        Ok(pid) => Ok(pid),
    }
}

/// Address with IPv4 as itself where it came inside IPv6.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Inode of the TCP socket with these two ends, `local` first; `None` if this host has none.
fn inode_of(root: &Root, local: SocketAddr, remote: SocketAddr) -> Option<u64> {
    ["proc/net/tcp", "proc/net/tcp6"]
        .into_iter()
        .find_map(|table| {
            let table = root.read(table).ok()?;
            table.lines().skip(1).find_map(|line| {
                // Number, local and remote address, state, queues, timers, retransmissions, user,
                // time-out, inode (proc_net_tcp(5)).
                let mut words = line.split_ascii_whitespace().skip(1);
                let ends = (parse_end(words.next()?)?, parse_end(words.next()?)?);
                let inode = words.nth(6)?.parse().ok()?;
                (ends == (local, remote)).then_some(inode)
            })
        })
}

/// An address as the kernel writes it: words of four bytes in the order of this machine, then the
/// port.
fn parse_end(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| {
        let digits = address.get(8 * at..8 * (at + 1))?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    let address = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    let port = u16::from_str_radix(port, 16).ok()?;
    Some(plain(SocketAddr::new(address, port)))
}

/// The process that has a socket open; `None` if no readable one has.
fn holder(root: &Root, inode: u64) -> Option<u32> {
    let socket = format!("socket:[{inode}]");
    let processes = root.list("proc").ok()?;
    processes.into_iter().find_map(|name| {
        let pid: u32 = name.parse().ok()?;
        let folder = format!("proc/{pid}/fd");
        let files = root.list(&folder).ok()?;
        let holds = |file: String| {
            let target = std::fs::read_link(root.path(Path::new(&folder).join(file)));
            target.is_ok_and(|target| target.as_os_str() == socket.as_str())
        };
        files.into_iter().any(holds).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn this_process_is_found_over_either_kind_of_socket() {
        let root = Root::live();
        let own = Ok(std::process::id());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let _listener = UnixListener::bind(&path).unwrap();
        let unix = UnixStream::connect(&path).unwrap();
        assert_eq!(peer_process(&root, &unix), own);
        for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            // A host may lack IPv6.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let Ok(tcp) = TcpStream::connect(("127.0.0.1", port))
                .or_else(|_| TcpStream::connect(("::1", port)))
            else {
                continue;
            };
            let _accepted = listener.accept().unwrap();
            assert_eq!(peer_process(&root, &tcp), own, "{address}");
        }
    }

    #[test]
    fn a_server_that_can_not_be_found_has_a_reason() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("proc/net")).unwrap();
        let root = Root::recorded(folder.path());
        assert_eq!(peer_process(&root, &tcp), Err(PeerError::Elsewhere));
        let table = fs::read_to_string("/proc/net/tcp").unwrap();
        fs::write(folder.path().join("proc/net/tcp"), table).unwrap();
        assert_eq!(peer_process(&root, &tcp), Err(PeerError::Hidden));
        drop(accepted);
    }

    #[test]
    fn addresses_are_words_in_the_order_of_the_machine() {
        let end = |text: &str| parse_end(text).map(|end| end.to_string());
        if cfg!(target_endian = "little") {
            assert_eq!(end("0100007F:0CEA").as_deref(), Some("127.0.0.1:3306"));
            let mapped = "0000000000000000FFFF00000100007F:0CEA";
            assert_eq!(end(mapped).as_deref(), Some("127.0.0.1:3306"));
            let loopback = "00000000000000000000000001000000:0CEA";
            assert_eq!(end(loopback).as_deref(), Some("[::1]:3306"));
        }
        for odd in ["", "7F:1", "0100007F", "0100007F:X", "0100007G:1"] {
            assert_eq!(end(odd), None, "{odd}");
        }
    }
}
