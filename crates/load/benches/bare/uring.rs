//! Many connections behind `io_uring(7)`: queries and receives are queued and handed over together,
//! and the same call waits for answers.
//!
//! What the kernel reads and writes is never given back, so that it is there whatever is under way
//! when the loop ends; the process ends soon after. Answers all go to one place: they are counted
//! by their sizes, and nobody reads them.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::Fixed;
use io_uring::{IoUring, SubmissionQueue, opcode};
use rustix::net::SendFlags;

use crate::client::Client;
use crate::ids::Ids;
use crate::job::Job;
use crate::tally::Tally;

/// `IORING_RECVSEND_POLL_FIRST`: the answer is not there yet when it is asked for.
const POLL_FIRST: u16 = 1;
/// Bytes received at once: many times those of an answer.
const PLACE_SIZE: u32 = 4096;
/// Marks the completion of a send, of which there is one only where it failed.
const SEND: u64 = u64::MAX;
const SEND_FLAGS: i32 = SendFlags::NOSIGNAL.bits().cast_signed();

/// Runs until it is stopped, in one thread.
pub(crate) fn run(clients: Vec<Client>, job: &Job, stop: &AtomicBool, tally: &Tally) {
    let mut ring = new_ring(&clients);
    let clients = clients.leak();
    let place = vec![0; PLACE_SIZE as usize].leak().as_mut_ptr();
    let (submitter, mut submissions, mut completions) = ring.split();
    let mut ids = Ids::new(1, job.rows);
    for (index, client) in (0..).zip(clients.iter_mut()) {
        ask(&mut submissions, index, client, ids.draw(), place);
    }
    let mut queries = 0;
    while !stop.load(Ordering::Relaxed) {
        submissions.sync();
        submitter.submit_and_wait(1).unwrap();
        submissions.sync();
        completions.sync();
        for completion in &mut completions {
            assert_ne!(completion.user_data(), SEND, "sending failed");
            // The data of a receive is the index that it was queued with.
            let index = u32::try_from(completion.user_data()).unwrap();
            let client = &mut clients[index as usize];
            client.check(usize::try_from(completion.result()).unwrap());
            ask(&mut submissions, index, client, ids.draw(), place);
            queries += 1;
        }
        tally.set(queries);
    }
}

/// A ring with the connections as registered files. Only this thread uses it, and completions are
/// worked off when it waits for them, and at no other time.
fn new_ring(clients: &[Client]) -> IoUring {
    let entries = u32::try_from(2 * clients.len()).unwrap();
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(entries)
        .unwrap();
    let sockets: Vec<_> = clients
        .iter()
        .map(|client| client.socket().as_fd().as_raw_fd())
        .collect();
    ring.submitter().register_files(&sockets).unwrap();
    ring
}

/// Queues a query and the receiving of its answer.
#[inline]
fn ask(
    submissions: &mut SubmissionQueue<'_>,
    index: u32,
    client: &mut Client,
    id: u64,
    place: *mut u8,
) {
    let file = Fixed(index);
    let request = client.request.with(id);
    let length = u32::try_from(request.len()).unwrap();
    let send = opcode::Send::new(file, request.as_ptr(), length)
        .flags(SEND_FLAGS)
        .build()
        .flags(Flags::SKIP_SUCCESS)
        .user_data(SEND);
    let receive = opcode::Recv::new(file, place, PLACE_SIZE)
        .ioprio(POLL_FIRST)
        .build()
        .user_data(index.into());
    push(submissions, &send);
    push(submissions, &receive);
}

/// Queues what is of a query.
#[inline]
fn push(submissions: &mut SubmissionQueue<'_>, entry: &Entry) {
    // SAFETY: requests and the place of answers are never given back. A request is changed only
    // after it was answered, when the kernel has read it; the place is read by nobody.
    unsafe { submissions.push(entry) }.unwrap();
}
