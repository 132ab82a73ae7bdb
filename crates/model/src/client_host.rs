//! The host that runs the load generator, where that is another one than the servers'.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The client host of a run, as it was when the run began or was resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientHostFacts {
    /// Its name in the user's file of hosts.
    pub name: String,
    /// The address of the servers' host that servers listen on.
    pub listen: IpAddr,
    /// The address from which its connections come.
    pub address: IpAddr,
    /// Facts of the host, in the shape of those of the servers' host.
    pub host: serde_json::Value,
    /// Facts of its network interface towards the servers; null where it is not known.
    pub interface: serde_json::Value,
    /// The network between both.
    pub network: NetworkFacts,
}

/// The network between two hosts, measured over one TCP connection while no server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkFacts {
    /// Round trips of one byte that were timed, from program to program.
    pub round_trips: u32,
    /// The shortest, in nanoseconds.
    pub shortest_ns: u64,
    /// Their median, in nanoseconds.
    pub median_ns: u64,
    /// 99 % of them were not longer, in nanoseconds.
    pub p99_ns: u64,
    /// Bytes per second from the servers' host to the client host.
    pub to_client_bytes_per_second: u64,
    /// Bytes per second from the client host to the servers' host.
    pub to_server_bytes_per_second: u64,
}
