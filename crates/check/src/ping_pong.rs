//! Two threads that send a byte to each other in turn.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, ScopedJoinHandle, scope};
use std::time::Instant;

use prony_model::WakeUpWindow;
use rustix::time::{ClockId, clock_gettime};

use crate::CheckError;
use crate::processors::bind;

/// Asks for an answer.
const PING: u8 = 0;
/// Asks for an answer, and for the partner's processor time before it.
const REPORT: u8 = 1;
/// Round trips between two looks at the clock.
const BATCH: u64 = 8;

/// The first of two threads; the other one answers each of its bytes.
pub(crate) struct Player<'a> {
    socket: UnixStream,
    /// Processor time of the partner at its last report, in nanoseconds.
    partner_ns: &'a AtomicU64,
}

/// Runs `play` on a thread of its own, with a partner on another one. Both are bound to the
/// processors, or left to the kernel.
pub(crate) fn play<T: Send>(
    cpus: Option<(usize, usize)>,
    play: impl FnOnce(&mut Player<'_>) -> Result<T, CheckError> + Send,
) -> Result<T, CheckError> {
    let (ours, theirs) = UnixStream::pair().map_err(CheckError::Socket)?;
    let partner_ns = AtomicU64::new(0);
    let partner_time = &partner_ns;
    let place = |cpu: Option<usize>| cpu.map_or(Ok(()), bind);
    scope(|threads| {
        let partner = Builder::new()
            .spawn_scoped(threads, move || {
                place(cpus.map(|(_, other)| other))?;
                answer(theirs, partner_time)
            })
            .map_err(CheckError::Thread)?;
        let player = Builder::new()
            .spawn_scoped(threads, move || {
                place(cpus.map(|(one, _)| one))?;
                play(&mut Player {
                    socket: ours,
                    partner_ns: partner_time,
                })
            })
            .map_err(CheckError::Thread)?;
        // The player drops its socket when it ends, which ends the partner.
        let result = joined(player);
        let answered = joined(partner);
        // A partner that ended early is the reason why the player could not go on.
        answered.and(result)
    })
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, CheckError>>) -> Result<T, CheckError> {
    thread.join().map_err(|_| CheckError::Panicked)?
}

/// Answers until the other side closes its socket.
fn answer(mut socket: UnixStream, own_ns: &AtomicU64) -> Result<(), CheckError> {
    let mut byte = [0];
    loop {
        match socket.read(&mut byte) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(CheckError::Exchange(error)),
        }
        if byte == [REPORT] {
            own_ns.store(thread_ns(), Ordering::Release);
        }
        socket.write_all(&byte).map_err(CheckError::Exchange)?;
    }
}

impl Player<'_> {
    /// Makes a number of round trips. Returns their time in nanoseconds.
    pub(crate) fn round_trips(&mut self, count: u64) -> Result<u64, CheckError> {
        let begin = Instant::now();
        for _ in 0..count {
            self.round_trip(PING)?;
        }
        Ok(nanoseconds(begin))
    }

    /// Makes round trips for about `window_ns`. Reading the processor times belongs to no window.
    pub(crate) fn window(&mut self, window_ns: u64) -> Result<WakeUpWindow, CheckError> {
        let cpu_before = self.cpu_ns()?;
        let begin = Instant::now();
        let (mut round_trips, mut wall_ns) = (0, 0);
        while wall_ns < window_ns {
            for _ in 0..BATCH {
                self.round_trip(PING)?;
            }
            round_trips += BATCH;
            wall_ns = nanoseconds(begin);
        }
        Ok(WakeUpWindow {
            round_trips,
            wall_ns,
            cpu_ns: self.cpu_ns()?.saturating_sub(cpu_before),
        })
    }

    /// Processor time of both threads.
    fn cpu_ns(&mut self) -> Result<u64, CheckError> {
        self.round_trip(REPORT)?;
        Ok(thread_ns() + self.partner_ns.load(Ordering::Acquire))
    }

    fn round_trip(&mut self, kind: u8) -> Result<(), CheckError> {
        let mut byte = [kind];
        self.socket
            .write_all(&byte)
            .and_then(|()| self.socket.read_exact(&mut byte))
            .map_err(CheckError::Exchange)
    }
}

/// Nanoseconds since `begin`.
pub(crate) fn nanoseconds(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Processor time of the calling thread, in nanoseconds.
fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_count_time_of_both_threads() {
        let window = play(None, |player| player.window(5_000_000)).unwrap();
        assert!(window.round_trips > 0 && window.round_trips % BATCH == 0);
        assert!(window.wall_ns >= 5_000_000);
        // Two threads that take turns never run for longer than the time that passes, except the
        // edges of the window.
        assert!(window.cpu_ns > 0 && window.cpu_ns < 2 * window.wall_ns + 1_000_000);
    }

    #[test]
    fn an_impossible_processor_is_an_error_and_no_hang() {
        let error = play(Some((1023, 1023)), |player| player.round_trips(1)).unwrap_err();
        assert!(
            matches!(error, CheckError::Bind { cpu: 1023, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_partner_without_its_processor_is_the_reason() {
        let set = rustix::thread::sched_getaffinity(None).unwrap();
        let ours = (0..1024).find(|cpu| set.is_set(*cpu)).unwrap();
        let error = play(Some((ours, 1023)), |player| player.round_trips(1)).unwrap_err();
        assert!(
            matches!(error, CheckError::Bind { cpu: 1023, .. }),
            "{error}"
        );
    }
}
