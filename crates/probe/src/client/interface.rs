//! A network interface: which one leads to an address, its facts, and what passed through it.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr};

use prony_model::Source;
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::root::{ProbeError, Root};
use crate::text::{numbers, sum};

const ROUTES: &str = "proc/net/route";
const DEVICES: &str = "proc/net/dev";
const BACKLOGS: &str = "proc/net/softnet_stat";
const PROTOCOLS: &str = "proc/net/snmp";

/// The interface through which packets to an address go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interface {
    name: String,
}

/// What is known of an interface. What can't be found out is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceFacts {
    /// Its name, such as `eth0`.
    pub name: String,
    /// Its speed as the driver says it, in Mbit/s; virtual ones make it up.
    pub mbit_per_second: Option<u64>,
    /// The largest packet, in bytes.
    pub mtu: Option<u64>,
}

/// What passed through an interface, and what the host lost, since its start.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Traffic {
    received_bytes: u64,
    received_packets: u64,
    sent_bytes: u64,
    sent_packets: u64,
    /// By the interface, and by the kernel before a program could read them.
    drops: u64,
    /// Of all connections of the host.
    segments: u64,
    segments_sent_again: u64,
}

impl Interface {
    /// Finds the interface by the most exact route to the address. Source of the layout: the kernel's
    /// `net/ipv4/fib_trie.c`, `fib_route_seq_show`.
    pub(super) fn towards(root: &Root, address: IpAddr) -> Result<Self, ProbeError> {
        let expected = "a route to the server, by IPv4";
        root.parse(ROUTES, expected, |text| {
            let IpAddr::V4(address) = address else {
                return None;
            };
            let routes = text.lines().skip(1).filter_map(Route::read);
            let best = routes
                .filter(|route| route.leads_to(address))
                .max_by_key(|route| (route.mask.count_ones(), Reverse(route.metric)))?;
            Some(Self {
                name: best.interface.to_owned(),
            })
        })
    }

    pub(super) fn facts(&self, root: &Root) -> InterfaceFacts {
        let number = |file: &str| root.number(format!("sys/class/net/{}/{file}", self.name));
        InterfaceFacts {
            name: self.name.clone(),
            mbit_per_second: number("speed"),
            mtu: number("mtu"),
        }
    }
}

struct Route<'a> {
    interface: &'a str,
    destination: u32,
    mask: u32,
    /// Of equal routes, the one with the least is taken.
    metric: u32,
}

impl<'a> Route<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        // In the byte order of the network, printed as a number of this machine.
        let number = |word: &str| Some(u32::from_be(u32::from_str_radix(word, 16).ok()?));
        Some(Self {
            interface: words.first()?,
            destination: number(words.get(1)?)?,
            mask: number(words.get(7)?)?,
            metric: words.get(6)?.parse().ok()?,
        })
    }

    fn leads_to(&self, address: Ipv4Addr) -> bool {
        address.to_bits() & self.mask == self.destination
    }
}

impl Traffic {
    /// Source of the layouts: proc(5), `net/dev` and `net/snmp`; the kernel's `net/core/net-procfs.c`,
    /// `softnet_seq_show`.
    pub(super) fn read(root: &Root, interface: &Interface) -> Result<Self, ProbeError> {
        let expected = "a line of sixteen numbers for the interface";
        let device: [u64; 12] = root.parse(DEVICES, expected, |text| {
            let of_interface = |line: &'_ str| {
                let (name, rest) = line.split_once(':')?;
                (name.trim() == interface.name).then(|| numbers(rest))?
            };
            text.lines().find_map(of_interface)
        })?;
        let [received_bytes, received_packets, _, received_drops, ..] = device;
        let [.., sent_bytes, sent_packets, _, sent_drops] = device;
        let backlog_drops = root.parse(BACKLOGS, "hexadecimal numbers", |text| {
            sum(text.lines().map(|line| {
                let dropped = line.split_ascii_whitespace().nth(1)?;
                u64::from_str_radix(dropped, 16).ok()
            }))
        })?;
        let [segments, segments_sent_again] =
            root.parse(PROTOCOLS, "`Tcp:`, names and numbers", |text| {
                let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
                let names: Vec<_> = lines.next()?.split_ascii_whitespace().collect();
                let values: Vec<_> = lines.next()?.split_ascii_whitespace().collect();
                let value = |wanted: &str| {
                    let place = names.iter().position(|name| *name == wanted)?;
                    values.get(place)?.parse().ok()
                };
                Some([value("OutSegs")?, value("RetransSegs")?])
            })?;
        Ok(Self {
            received_bytes,
            received_packets,
            sent_bytes,
            sent_packets,
            drops: received_drops
                .saturating_add(sent_drops)
                .saturating_add(backlog_drops),
            segments,
            segments_sent_again,
        })
    }

    pub(super) fn put(&self, draft: &mut Draft) {
        for (name, value) in [
            ("received_bytes", self.received_bytes),
            ("received_packets", self.received_packets),
            ("sent_bytes", self.sent_bytes),
            ("sent_packets", self.sent_packets),
            ("drops", self.drops),
            ("segments", self.segments),
            ("segments_sent_again", self.segments_sent_again),
        ] {
            draft.put(Source::Client, name, value);
        }
    }
}
