//! One connection: send, receive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hdrhistogram::Histogram;

use crate::client::{BUFFER_SIZE, Client};
use crate::ids::Ids;
use crate::job::Job;
use crate::tally::Tally;

/// Runs until it is stopped. Returns the times from sending to the last byte, in nanoseconds, where
/// they are asked for.
pub(crate) fn run(
    clients: Vec<Client>,
    job: &Job,
    stop: &AtomicBool,
    tally: &Tally,
) -> Option<Histogram<u64>> {
    let Ok([client]) = <[Client; 1]>::try_from(clients) else {
        unreachable!("a blocking loop has as many clients as threads");
    };
    let ids = Ids::new(1, job.rows);
    if job.timed {
        return Some(run_timed(client, ids, stop, tally));
    }
    run_untimed(client, ids, stop, tally);
    None
}

fn run_untimed(mut client: Client, mut ids: Ids, stop: &AtomicBool, tally: &Tally) {
    let mut buffer = [0; BUFFER_SIZE];
    let mut queries = 0;
    while !stop.load(Ordering::Relaxed) {
        client.ask(ids.draw());
        client.hear(&mut buffer);
        queries += 1;
        tally.set(queries);
    }
}

/// Warm-up included: medians do not mind.
fn run_timed(mut client: Client, mut ids: Ids, stop: &AtomicBool, tally: &Tally) -> Histogram<u64> {
    let mut times = Histogram::new(3).unwrap();
    let mut buffer = [0; BUFFER_SIZE];
    let mut queries = 0;
    while !stop.load(Ordering::Relaxed) {
        let id = ids.draw();
        let begin = Instant::now();
        client.ask(id);
        client.hear(&mut buffer);
        let nanos = begin.elapsed().as_nanos();
        times.record(u64::try_from(nanos).unwrap()).unwrap();
        queries += 1;
        tally.set(queries);
    }
    times
}
