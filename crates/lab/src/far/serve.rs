//! The far end: what runs on the client host.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

use prony_host::Launcher;
use prony_load::Hello;
use prony_model::CpuSet;
use prony_probe::{ClientProber, HostFacts, Root};

use super::session::line;
use super::words::{Order, Report};
use super::{BEAT, FarHost, SILENCE, network};
use crate::drive::{Child, Line, command};

/// What the far end waits for.
enum Event {
    Order(Order),
    /// The lab is gone, or says what nobody understands.
    OrdersEnd,
    FromGenerator(u32, Line),
    /// The network was measured.
    Measured(Report),
}

/// What the far end has.
struct FarEnd<W> {
    launcher: Launcher,
    prony: PathBuf,
    proc: Root,
    output: W,
    prober: Option<ClientProber>,
    generators: HashMap<u32, Child>,
    events: Sender<Event>,
}

/// Serves a lab on another host: starts load generators of the program `prony`, whose hash is `build`,
/// and reads this host, until the input ends or is silent. What was started ends then.
///
/// # Errors
/// When nobody reads the output.
pub fn serve_far(
    launcher: &Launcher,
    prony: PathBuf,
    build: String,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let (events, incoming) = channel();
    let mut far = FarEnd {
        launcher: launcher.clone(),
        prony,
        proc: Root::live(),
        output,
        prober: None,
        generators: HashMap::new(),
        events: events.clone(),
    };
    far.say(&Report::Greeting {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build,
    })?;
    thread::spawn(move || read_orders(input, &events));
    let mut heard = Instant::now();
    let mut beaten = Instant::now();
    loop {
        match incoming.recv_timeout(BEAT) {
            Ok(Event::Order(order)) => {
                heard = Instant::now();
                far.obey(order)?;
            }
            Ok(Event::OrdersEnd) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Event::FromGenerator(number, line)) => far.pass_on(number, line)?,
            Ok(Event::Measured(report)) => far.say(&report)?,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if heard.elapsed() > SILENCE {
            return Ok(());
        }
        if beaten.elapsed() >= BEAT {
            beaten = Instant::now();
            far.say(&Report::Beat)?;
        }
    }
}

fn read_orders(input: impl Read, events: &Sender<Event>) {
    for text in BufReader::new(input).lines().map_while(Result::ok) {
        let Ok(order) = serde_json::from_str(&text) else {
            break;
        };
        if events.send(Event::Order(order)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::OrdersEnd);
}

impl<W: Write> FarEnd<W> {
    fn say(&mut self, report: &Report) -> io::Result<()> {
        self.output.write_all(&line(report))?;
        self.output.flush()
    }

    fn obey(&mut self, order: Order) -> io::Result<()> {
        match order {
            Order::Beat => Ok(()),
            Order::Describe { server } => {
                let host = self.describe(server)?;
                self.say(&Report::Host(Box::new(host)))
            }
            Order::Network { address } => {
                // Signs of life go on meanwhile.
                let events = self.events.clone();
                thread::spawn(move || {
                    let measured = network::measure_to(address);
                    let report = Report::Network(measured.map_err(|error| error.to_string()));
                    events.send(Event::Measured(report))
                });
                Ok(())
            }
            Order::Start { generator, cpus } => self.start(generator, cpus.as_ref()),
            Order::Line { generator, line } => {
                if let Some(child) = self.generators.get_mut(&generator) {
                    child.tell(format!("{line}\n").as_bytes());
                }
                Ok(())
            }
            Order::Kill { generator } => {
                self.generators.remove(&generator);
                Ok(())
            }
            Order::Sample { moment } => {
                let read = self.prober.as_mut().map(|prober| prober.sample(moment));
                let (values, gaps) = read.unwrap_or_default();
                self.say(&Report::Sample { values, gaps })
            }
        }
    }

    fn describe(&mut self, server: IpAddr) -> io::Result<FarHost> {
        let prober = ClientProber::new(self.proc.clone(), server);
        let host = FarHost {
            address: source_towards(server)?,
            facts: HostFacts::read(&self.proc),
            interface: prober.interface().ok(),
            generator: Hello::of_this_process(),
        };
        self.prober = Some(prober);
        Ok(host)
    }

    fn start(&mut self, number: u32, cpus: Option<&CpuSet>) -> io::Result<()> {
        let events = self.events.clone();
        let deliver = move |line| events.send(Event::FromGenerator(number, line)).is_ok();
        let command = command(&self.launcher, &self.prony, cpus);
        match Child::spawn(&self.launcher, command, deliver) {
            Ok(child) => {
                self.generators.insert(number, child);
                Ok(())
            }
            Err(error) => self.say(&Report::Ended {
                generator: number,
                how: format!("failed to {error}"),
            }),
        }
    }

    fn pass_on(&mut self, number: u32, line: Line) -> io::Result<()> {
        let report = match line {
            Line::Output(line) => Report::Line {
                generator: number,
                line,
            },
            Line::Ended(how) => Report::Ended {
                generator: number,
                how,
            },
            Line::Closed(errors) => match self.generators.remove(&number) {
                Some(mut child) => Report::Ended {
                    generator: number,
                    how: child.describe_end(&errors),
                },
                // It was not needed any more.
                None => return Ok(()),
            },
        };
        self.say(&report)
    }
}

/// The address of this host from which packets to another go. A datagram socket finds its route when it
/// is connected, and sends nothing by that.
fn source_towards(server: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match server {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    // The discard service; nothing is sent to it.
    socket.connect(SocketAddr::from((server, 9)))?;
    Ok(socket.local_addr()?.ip())
}
