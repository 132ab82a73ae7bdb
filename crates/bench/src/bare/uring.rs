//! Many connections behind `io_uring(7)`: sends and receives are queued and submitted together, and
//! the same call waits for answers.
//!
//! Memory that the kernel reads and writes is never freed. All answers go to one place: their sizes
//! are checked, and no code reads them.

use std::os::fd::{AsFd, AsRawFd};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::Fixed;
use io_uring::{IoUring, SubmissionQueue, opcode};
use rustix::net::SendFlags;

use super::Ids;
use super::client::{BUFFER_SIZE, Client};

/// `IORING_RECVSEND_POLL_FIRST`: the answer has not arrived when its receive is queued.
const POLL_FIRST: u16 = 1;
/// Marks the completion of a send, which exists only if the send failed.
const SEND: u64 = u64::MAX;

/// Runs in one thread.
pub(super) fn run(clients: Vec<Client>, mut ids: Ids) {
    let mut ring = new_ring(&clients);
    let clients = clients.leak();
    let answers = Box::leak(Box::new([0; BUFFER_SIZE])).as_mut_ptr();
    let (submitter, mut submissions, mut completions) = ring.split();
    for (index, client) in (0..).zip(clients.iter_mut()) {
        ask(&mut submissions, index, client.request(ids.draw()), answers);
    }
    loop {
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
            ask(&mut submissions, index, client.request(ids.draw()), answers);
        }
    }
}

/// A ring with the connections as registered files. Only this thread uses it, and the kernel
/// processes completions only while the thread waits for them.
fn new_ring(clients: &[Client]) -> IoUring {
    let entries = u32::try_from(2 * clients.len()).unwrap();
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    let ring = builder.build(entries).unwrap();
    let sockets = clients
        .iter()
        .map(|client| client.socket.as_fd().as_raw_fd());
    let sockets: Vec<_> = sockets.collect();
    ring.submitter().register_files(&sockets).unwrap();
    ring
}

/// Queues a query and the receiving of its answer.
#[inline]
fn ask(submissions: &mut SubmissionQueue<'_>, index: u32, request: &[u8], answers: *mut u8) {
    let file = Fixed(index);
    let length = u32::try_from(request.len()).unwrap();
    let send = opcode::Send::new(file, request.as_ptr(), length)
        .flags(SendFlags::NOSIGNAL.bits().cast_signed())
        .build()
        .flags(Flags::SKIP_SUCCESS)
        .user_data(SEND);
    let receive = opcode::Recv::new(file, answers, u32::try_from(BUFFER_SIZE).unwrap())
        .ioprio(POLL_FIRST)
        .build()
        .user_data(index.into());
    push(submissions, &send);
    push(submissions, &receive);
}

#[inline]
fn push(submissions: &mut SubmissionQueue<'_>, entry: &Entry) {
    // SAFETY: requests and the place of answers are never freed. A request changes only after its
    // answer has come, when the kernel has read it; no code reads the place.
    unsafe { submissions.push(entry) }.unwrap();
}
