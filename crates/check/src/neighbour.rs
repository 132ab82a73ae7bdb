//! Slowdown of a processor while another one works: threads of one core share its units, also where
//! a virtual machine shows them as cores.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, scope};
use std::time::Instant;

use crate::CheckError;
use crate::ping_pong::nanoseconds;
use crate::processors::{Pair, bind};

/// Rounds with an idle neighbour, and as many with a busy one, alternately.
const ROUNDS: usize = 12;
/// Multiplications of each chain in one round: about 1 ms.
const MULTIPLICATIONS: u32 = 400_000;
/// Independent chains: enough to use the multiplier in every cycle.
const CHAINS: usize = 6;

/// Slowdown of a processor while its partner is busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sharing {
    /// Time of fixed work with a busy partner, relative to the same with an idle one.
    pub(crate) slowdown: f64,
}

/// Measures the slowdown. `None` with one processor.
pub(crate) fn sharing(pair: Pair) -> Result<Option<Sharing>, CheckError> {
    let Some(other) = pair.other else {
        return Ok(None);
    };
    let (mut idle, mut busy) = ([0; ROUNDS], [0; ROUNDS]);
    for (idle, busy) in idle.iter_mut().zip(&mut busy) {
        *idle = round(pair.one, None)?;
        *busy = round(pair.one, Some(other))?;
    }
    Ok(Some(Sharing {
        slowdown: quick(busy) / quick(idle),
    }))
}

/// The lower quartile: without rounds that other programs disturbed, and without the one or two in
/// which they had stopped the partner.
fn quick(mut rounds: [u64; ROUNDS]) -> f64 {
    rounds.sort_unstable();
    rounds[ROUNDS / 4].max(1) as f64
}

/// Time of one round on a processor, in nanoseconds, while a partner works.
fn round(one: usize, partner: Option<usize>) -> Result<u64, CheckError> {
    let (ready, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (ready, over) = (&ready, &over);
    scope(|threads| {
        let partner = partner.map(|cpu| {
            Builder::new().spawn_scoped(threads, move || {
                let bound = bind(cpu);
                ready.store(true, Ordering::Release);
                while bound.is_ok() && !over.load(Ordering::Acquire) {
                    work(MULTIPLICATIONS / 100);
                }
                bound
            })
        });
        let partner = partner.transpose().map_err(CheckError::Thread)?;
        let is_alone = partner.is_none();
        let worker = Builder::new().spawn_scoped(threads, move || {
            let bound = bind(one);
            while !is_alone && !ready.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let begin = Instant::now();
            work(MULTIPLICATIONS);
            let ns = nanoseconds(begin);
            over.store(true, Ordering::Release);
            bound.map(|()| ns)
        });
        // A partner without a worker would never end.
        over.fetch_or(worker.is_err(), Ordering::AcqRel);
        let ns = worker.map_err(CheckError::Thread)?.join();
        if let Some(partner) = partner {
            partner.join().map_err(|_| CheckError::Panicked)??;
        }
        ns.map_err(|_| CheckError::Panicked)?
    })
}

/// Chains of multiplications that do not wait for each other.
fn work(multiplications: u32) {
    let mut chains = black_box([0x9e37_79b9_7f4a_7c15_u64; CHAINS]);
    for _ in 0..multiplications {
        for chain in &mut chains {
            *chain = chain.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        }
    }
    black_box(chains);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processors::allowed;

    #[test]
    fn two_threads_on_one_processor_take_twice_as_long() {
        // The most extreme neighbour: the same processor. It stands for threads of a core.
        let one = allowed().unwrap()[0];
        let pair = Pair {
            one,
            other: Some(one),
        };
        let shared = sharing(pair).unwrap().unwrap();
        assert!(shared.slowdown > 0.5, "{shared:?}");
        assert_eq!(sharing(Pair { one, other: None }).unwrap(), None);
    }

    #[test]
    fn an_impossible_neighbour_is_an_error_and_no_hang() {
        let one = allowed().unwrap()[0];
        let pair = Pair {
            one,
            other: Some(1023),
        };
        assert!(matches!(
            sharing(pair),
            Err(CheckError::Bind { cpu: 1023, .. })
        ));
    }
}
