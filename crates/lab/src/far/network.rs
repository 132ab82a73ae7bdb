//! The network between the two hosts: its round trips and its throughput, over one TCP connection.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use prony_model::NetworkFacts;

use super::session::Session;
use super::words::{Order, Report};
use super::{ClientHostSetup, SILENCE};
use crate::error::ClientHostError;

/// Round trips that are timed, after as many that are not.
const ROUND_TRIPS: u32 = 200;
/// Time for which bytes are sent as fast as they are taken, each way.
const FLOOD: Duration = Duration::from_millis(300);
/// Bytes that are sent at once.
const CHUNK: usize = 1 << 17;
/// Time from one look for a connection to the next.
const POLL: Duration = Duration::from_millis(5);
/// Time that a read or write may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Limit for the far end to measure.
const MEASURING: Duration = Duration::from_secs(20);

/// Has the far end measure the network to this host, and answers it.
pub(super) fn measure(
    session: &Session,
    setup: &ClientHostSetup,
) -> Result<NetworkFacts, ClientHostError> {
    let listener = listen(setup.listen).map_err(|source| ClientHostError::Listen {
        listen: setup.listen,
        source,
    })?;
    let refused = |reason: String| ClientHostError::Network {
        client: setup.name.clone(),
        listen: setup.listen,
        reason,
    };
    let address = listener
        .local_addr()
        .map_err(|error| refused(error.to_string()))?;
    let client = session.host().address;
    let answering = thread::spawn(move || answer(&listener, client));
    let report = session.ask(&Order::Network { address }, MEASURING);
    let answered = answering.join().unwrap_or(Ok(()));
    match report {
        Ok(Report::Network(Ok(facts))) => {
            answered.map_err(|error| refused(error.to_string()))?;
            Ok(facts)
        }
        Ok(Report::Network(Err(reason))) | Err(reason) => Err(refused(reason)),
        Ok(_) => Err(refused("the far end answers something else".to_owned())),
    }
}

/// Listens where servers will: a firewall that lets them pass lets this pass.
fn listen(address: IpAddr) -> io::Result<TcpListener> {
    let port = prony_servers::free_port(address).map_err(io::Error::other)?;
    let listener = TcpListener::bind((address, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers three connections from the client host, which come soon or not at all: bytes are sent back,
/// bytes are sent for some time, and bytes are read to the end.
fn answer(listener: &TcpListener, client: IpAddr) -> io::Result<()> {
    for answer in [echo, send, receive] {
        match accept(listener, client)? {
            Some(mut stream) => answer(&mut stream)?,
            None => break,
        }
    }
    Ok(())
}

fn accept(listener: &TcpListener, client: IpAddr) -> io::Result<Option<TcpStream>> {
    let end = Instant::now() + PATIENCE;
    loop {
        match listener.accept() {
            Ok((stream, peer)) if peer.ip() == client => {
                stream.set_nonblocking(false)?;
                prepare(&stream)?;
                return Ok(Some(stream));
            }
            // Somebody else's is closed.
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(POLL),
            Err(error) => return Err(error),
        }
        if Instant::now() >= end {
            return Ok(None);
        }
    }
}

fn echo(stream: &mut TcpStream) -> io::Result<()> {
    let mut byte = [0];
    while stream.read(&mut byte)? > 0 {
        stream.write_all(&byte)?;
    }
    Ok(())
}

fn send(stream: &mut TcpStream) -> io::Result<()> {
    let (bytes, begin) = (vec![0; CHUNK], Instant::now());
    while begin.elapsed() < FLOOD {
        stream.write_all(&bytes)?;
    }
    Ok(())
}

/// Says by a byte when all have come.
fn receive(stream: &mut TcpStream) -> io::Result<()> {
    count_to_end(stream)?;
    stream.write_all(&[0])
}

/// The far end's side: measures the network to what answers at `address`.
pub(super) fn measure_to(address: SocketAddr) -> io::Result<NetworkFacts> {
    let connect = || {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("connect to {address}: {error}"))
        };
        let stream = TcpStream::connect_timeout(&address, SILENCE / 2).map_err(named)?;
        prepare(&stream)?;
        Ok::<_, io::Error>(stream)
    };
    let times = round_trips(&mut connect()?)?;
    let rank = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];

    let mut stream = connect()?;
    let begin = Instant::now();
    let received = count_to_end(&mut stream)?;
    let to_client_bytes_per_second = per_second(received, begin);

    let mut stream = connect()?;
    let (bytes, begin, mut sent) = (vec![0; CHUNK], Instant::now(), 0);
    while begin.elapsed() < FLOOD {
        stream.write_all(&bytes)?;
        sent += bytes.len() as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    stream.read_exact(&mut [0])?;
    Ok(NetworkFacts {
        round_trips: ROUND_TRIPS,
        shortest_ns: rank(0),
        median_ns: rank(50),
        p99_ns: rank(99),
        to_client_bytes_per_second,
        to_server_bytes_per_second: per_second(sent, begin),
    })
}

/// Nanoseconds of each round trip, the shortest first.
fn round_trips(stream: &mut TcpStream) -> io::Result<Vec<u64>> {
    let mut times = Vec::new();
    for number in 0..2 * ROUND_TRIPS {
        let begin = Instant::now();
        stream.write_all(&[0])?;
        stream.read_exact(&mut [0])?;
        if number >= ROUND_TRIPS {
            times.push(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// Bytes until the other side ends.
fn count_to_end(stream: &mut TcpStream) -> io::Result<u64> {
    let (mut bytes, mut total) = (vec![0; CHUNK], 0);
    loop {
        match stream.read(&mut bytes)? {
            0 => return Ok(total),
            read => total += read as u64,
        }
    }
}

fn per_second(bytes: u64, begin: Instant) -> u64 {
    let rate = u128::from(bytes) * 1_000_000_000 / begin.elapsed().as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Neither side waits for ever, and nothing waits for more bytes.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_of_this_host_is_measured() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let answering = thread::spawn(move || answer(&listener, address.ip()));
        let facts = measure_to(address).unwrap();
        answering.join().unwrap().unwrap();
        assert_eq!(facts.round_trips, 200);
        assert!(0 < facts.shortest_ns && facts.shortest_ns <= facts.median_ns);
        assert!(facts.median_ns <= facts.p99_ns);
        assert!(
            facts
                .to_client_bytes_per_second
                .min(facts.to_server_bytes_per_second)
                > 1_000_000
        );
    }

    #[test]
    fn connections_of_other_hosts_are_not_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let answering = thread::spawn(move || answer(&listener, "10.9.9.9".parse().unwrap()));
        assert!(measure_to(address).is_err());
        answering.join().unwrap().unwrap();
    }
}
