//! The host of a load generator that is not the server's: its processors, and its network towards the
//! server.

mod interface;

use std::net::IpAddr;

use prony_model::{Counter, Gap, Moment, Source};

pub use self::interface::InterfaceFacts;
use self::interface::{Interface, Traffic};
use crate::draft::{Draft, gap};
use crate::root::{ProbeError, Root, ticks_to_ns};
use crate::text::{add, numbers, sum};

/// Reads the host at the edges of measured times.
#[derive(Debug)]
pub struct ClientProber {
    root: Root,
    interface: Result<Interface, Gap>,
    /// Time of each processor in software interrupts at the last start.
    interrupts: Vec<u64>,
}

/// Time of the processors since the host's start, in nanoseconds.
#[derive(Debug, PartialEq, Eq)]
struct Processors {
    busy: u64,
    steal: u64,
    /// In software interrupts, which handle what the network brings; one number for each processor.
    softirq: Vec<u64>,
}

impl ClientProber {
    /// Finds the network interface towards the server.
    pub fn new(root: Root, server: IpAddr) -> Self {
        let interface = Interface::towards(&root, server);
        Self {
            interface: interface.map_err(|error| gap(Source::Client, error.to_string())),
            interrupts: Vec::new(),
            root,
        }
    }

    /// The interface towards the server.
    ///
    /// # Errors
    /// The reason why it is not known.
    pub fn interface(&self) -> Result<InterfaceFacts, Gap> {
        let interface = self.interface.as_ref().map_err(Clone::clone)?;
        Ok(interface.facts(&self.root))
    }

    /// Takes a reading: counters of [`Source::Client`], and reasons for missing ones.
    ///
    /// `busiest_softirq_ns` is the growth of the processor on which it was largest since the last start.
    pub fn sample(&mut self, moment: Moment) -> (Vec<(Counter, u64)>, Vec<Gap>) {
        let mut draft = Draft::default();
        match Processors::read(&self.root) {
            Ok(read) => self.put_processors(read, moment, &mut draft),
            Err(error) => draft.gap(Source::Client, &error),
        }
        match &self.interface {
            Ok(interface) => match Traffic::read(&self.root, interface) {
                Ok(traffic) => traffic.put(&mut draft),
                Err(error) => draft.gap(Source::Client, &error),
            },
            Err(gap) => draft.gaps.push(gap.clone()),
        }
        (draft.values.into_iter().collect(), draft.gaps)
    }

    fn put_processors(&mut self, read: Processors, moment: Moment, draft: &mut Draft) {
        let Processors {
            busy,
            steal,
            softirq,
        } = read;
        draft.put(Source::Client, "processors", softirq.len() as u64);
        draft.put(Source::Client, "busy_ns", busy);
        draft.put(Source::Client, "steal_ns", steal);
        draft.put(Source::Client, "softirq_ns", sum(softirq.iter().copied()));
        if moment == Moment::Start {
            self.interrupts.clone_from(&softirq);
        }
        let grown = softirq.iter().zip(&self.interrupts);
        let grown = grown.map(|(now, before)| now.saturating_sub(*before));
        draft.put(Source::Client, "busiest_softirq_ns", grown.max());
    }
}

impl Processors {
    /// Source of the layout: proc(5), stat.
    fn read(root: &Root) -> Result<Self, ProbeError> {
        let expected = "a line of eight numbers for each processor";
        root.parse("proc/stat", expected, |text| {
            let lines = text.lines().filter_map(|line| line.strip_prefix("cpu"));
            let of_one =
                lines.filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
            let mut total = [0; 2];
            let mut softirqs = Vec::new();
            for line in of_one {
                let (_, times) = line.split_once(' ')?;
                let [user, nice, system, _idle, _wait, irq, softirq, steal] = numbers(times)?;
                total = add(total, [sum([user, nice, system, irq, softirq])?, steal])?;
                softirqs.push(ticks_to_ns(softirq)?);
            }
            let [busy, steal] = total;
            (!softirqs.is_empty()).then_some(Self {
                busy: ticks_to_ns(busy)?,
                steal: ticks_to_ns(steal)?,
                softirq: softirqs,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tick_ns;
    use crate::testing::Machine;

    fn machine() -> Machine {
        let machine = Machine::new();
        machine.write(
            "proc/net/route",
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
             eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
             fast1\t0007630A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
        );
        machine.write(
            "proc/net/dev",
            "Inter-|   Receive\n face |bytes\n  eth0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n\
             fast1:1000 10 0 2 0 0 0 0 2000 20 0 1 0 0 0 0\n",
        );
        machine.write(
            "proc/net/softnet_stat",
            "0000000a 00000001 00000000\n00000001 0000000f 0\n",
        );
        machine.write(
            "proc/net/snmp",
            "Ip: Forwarding\nIp: 1\nTcp: ActiveOpens OutSegs RetransSegs\nTcp: 3 400 5\n",
        );
        machine.write("sys/class/net/fast1/speed", "25000\n");
        machine.write("sys/class/net/fast1/mtu", "9000\n");
        machine.write(
            "proc/stat",
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 1 20 500 3 2 1 7 0 0\ncpu1 1 1 1 50 3 0 4 0 0 0\n",
        );
        machine
    }

    #[test]
    fn processors_and_the_interface_towards_the_server() {
        let machine = machine();
        let mut prober = ClientProber::new(machine.root(), "10.99.7.1".parse().unwrap());
        let facts = prober.interface().unwrap();
        assert_eq!(
            (facts.name.as_str(), facts.mbit_per_second, facts.mtu),
            ("fast1", Some(25_000), Some(9_000))
        );
        prober.sample(Moment::Start);
        machine.write(
            "proc/stat",
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 1 20 500 3 2 4 7 0 0\ncpu1 1 1 1 50 3 0 5 0 0 0\n",
        );
        let (values, gaps) = prober.sample(Moment::End);
        assert_eq!(gaps, []);
        let value = |name: &str| {
            let found = values.iter().find(|(counter, _)| counter.name == name);
            found.unwrap().1
        };
        let tick = tick_ns();
        for (name, expected) in [
            ("processors", 2),
            ("busy_ns", 45 * tick),
            ("steal_ns", 7 * tick),
            ("softirq_ns", 9 * tick),
            ("busiest_softirq_ns", 3 * tick),
            ("received_bytes", 1000),
            ("sent_bytes", 2000),
            ("received_packets", 10),
            ("sent_packets", 20),
            ("drops", 3 + 16),
            ("segments", 400),
            ("segments_sent_again", 5),
        ] {
            assert_eq!(value(name), expected, "{name}");
        }
    }

    #[test]
    fn an_unknown_interface_is_a_gap_and_processors_are_read_nevertheless() {
        let machine = machine();
        let mut prober = ClientProber::new(machine.root(), "fd00::1".parse().unwrap());
        assert!(prober.interface().is_err());
        let (values, gaps) = prober.sample(Moment::Start);
        assert_eq!(gaps.len(), 1, "{gaps:?}");
        assert_eq!(values.len(), 5, "{values:?}");
    }
}
