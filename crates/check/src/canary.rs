//! The canary: a short fixed computation that shows if the host is as fast as it was.

use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::{Builder, scope};
use std::time::Instant;

use prony_model::CanaryReading;
use prony_probe::Root;

use crate::CheckError;
use crate::ping_pong::{nanoseconds, play};
use crate::processors::{Pair, bind};

/// Rounds of all four parts, one after the other, so that a short disturbance meets few
/// rounds of a part and not all of them.
const ROUNDS: usize = 15;
/// Dependent multiplications of one round.
const MULTIPLICATIONS: u64 = 1_200_000;
/// Lines of the buffer, a power of two: 32 MiB.
const LINES: u32 = 1 << 19;
/// Numbers in a line of 64 bytes.
const LINE: usize = 16;
/// Dependent loads of one round.
const LOADS: u32 = 20_000;
/// Pairs of system calls of one round.
const CALLS: u32 = 2_000;
/// Bytes that a pair of system calls moves.
const MESSAGE: usize = 64;
/// Round trips across two processors of one round.
const ROUND_TRIPS: u64 = 25;

/// Runs the canary: 100 to 200 ms. Each part is the shortest of its rounds.
///
/// The shortest, because the canary shows the speed of the host, and not which of its rounds
/// another program interrupted: processor time of other programs is counted elsewhere. Sixty
/// canaries on two processors on which others compiled (standard deviation ÷ mean, 15 rounds of
/// 1 to 3 ms): memory 6 % by the shortest and 35 % by the median, system calls 3 and 25 %, wake-ups
/// 13 and 80 %, processor 3 and 2 %. With 5 rounds of 7 to 13 ms each the shortest was no
/// better than 40, 34 and 60 %, because hardly one was left alone.
///
/// It runs on the core on which sessions and clients run if there is one client and placement is by
/// rule, so that it shows the speed of the same core each time.
///
/// # Errors
/// If the system does not permit threads, sockets, or their processors.
pub fn canary() -> Result<CanaryReading, CheckError> {
    let pair = Pair::choose(&Root::live())?;
    // A thread of its own, because the processors of a thread stay with it.
    scope(|threads| {
        Builder::new()
            .spawn_scoped(threads, || {
                bind(pair.one)?;
                measure(pair)
            })
            .map_err(CheckError::Thread)?
            .join()
            .map_err(|_| CheckError::Panicked)?
    })
}

fn measure(pair: Pair) -> Result<CanaryReading, CheckError> {
    let mut memory = Memory::new();
    let mut calls = Calls::new()?;
    let mut rounds = [[0; ROUNDS]; 4];
    let [processor, loads, system_calls, wake_ups] = &mut rounds;
    for round in 0..ROUNDS {
        processor[round] = multiply();
        loads[round] = memory.load();
        system_calls[round] = calls.exchange()?;
        if let Some(other) = pair.other {
            let cpus = Some((pair.one, other));
            wake_ups[round] = play(cpus, |player| {
                // The first one waits until the partner has started.
                player.round_trips(1)?;
                player.round_trips(ROUND_TRIPS)
            })?;
        }
    }
    let [processor_ns, memory_ns, system_calls_ns, wake_up_ns] = rounds.map(shortest);
    Ok(CanaryReading {
        processor_ns,
        memory_ns,
        system_calls_ns,
        wake_up_ns: pair.other.map(|_| wake_up_ns),
    })
}

fn shortest(rounds: [u64; ROUNDS]) -> u64 {
    rounds.into_iter().min().unwrap_or(0)
}

/// A chain of multiplications, each of which needs the result of the one before it.
fn multiply() -> u64 {
    let begin = Instant::now();
    let mut value = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..MULTIPLICATIONS {
        // The multiplier is that of splitmix64; any odd number would do.
        value = (value ^ (value >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    black_box(value);
    nanoseconds(begin)
}

/// A buffer whose lines name each other in one circle.
struct Memory {
    numbers: Vec<u32>,
    line: u32,
}

impl Memory {
    fn new() -> Self {
        let mut numbers = vec![0; LINES as usize * LINE];
        for (line, number) in (0..LINES).zip(numbers.iter_mut().step_by(LINE)) {
            *number = next_line(line);
        }
        Self { numbers, line: 0 }
    }

    /// Follows the circle.
    fn load(&mut self) -> u64 {
        let begin = Instant::now();
        for _ in 0..LOADS {
            self.line = self.numbers[self.line as usize * LINE];
        }
        black_box(self.line);
        nanoseconds(begin)
    }
}

/// The line after `line` in a circle through all lines that no prefetching unit foresees: a linear
/// congruential generator with full period, because its multiplier is one more than a multiple of
/// four and its increment is odd (Hull and Dobell, 1962).
const fn next_line(line: u32) -> u32 {
    line.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) % LINES
}

/// Two ends of a unix socket in one thread.
struct Calls {
    from: UnixStream,
    to: UnixStream,
}

impl Calls {
    fn new() -> Result<Self, CheckError> {
        let (from, to) = UnixStream::pair().map_err(CheckError::Socket)?;
        Ok(Self { from, to })
    }

    /// Writes messages and reads them.
    fn exchange(&mut self) -> Result<u64, CheckError> {
        let mut message = [0; MESSAGE];
        let begin = Instant::now();
        for _ in 0..CALLS {
            self.from
                .write_all(&message)
                .and_then(|()| self.to.read_exact(&mut message))
                .map_err(CheckError::Exchange)?;
        }
        Ok(nanoseconds(begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_measured() {
        let reading = canary().unwrap();
        for ns in [
            reading.processor_ns,
            reading.memory_ns,
            reading.system_calls_ns,
        ] {
            assert!(ns > 1_000, "{reading:?}");
        }
        let two = Pair::choose(&Root::live()).unwrap().other.is_some();
        assert_eq!(reading.wake_up_ns.is_some(), two);
    }

    #[test]
    fn the_circle_goes_through_every_line() {
        let mut seen = vec![false; LINES as usize];
        let mut line = 0;
        for _ in 0..LINES {
            assert!(!std::mem::replace(&mut seen[line as usize], true));
            line = next_line(line);
        }
        assert_eq!(line, 0);
    }

    #[test]
    fn disturbed_rounds_are_ignored() {
        let mut rounds = [900; ROUNDS];
        rounds[3] = 5;
        assert_eq!(shortest(rounds), 5);
    }
}
