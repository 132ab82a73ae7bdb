//! Many connections: wait for events, receive and send.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::epoll;

use crate::client::{BUFFER_SIZE, Client};
use crate::ids::Ids;
use crate::job::Job;
use crate::tally::Tally;

/// Events taken from the system at once.
const EVENTS: usize = 256;

/// Runs until it is stopped. A client has one query under way, so an answer is always a new edge.
pub(crate) fn run(mut clients: Vec<Client>, job: &Job, stop: &AtomicBool, tally: &Tally) {
    let epoll = register(&clients);
    let mut ids = Ids::new(1, job.rows);
    for client in &mut clients {
        client.ask(ids.draw());
    }
    let mut events = Vec::with_capacity(EVENTS);
    let mut buffer = [0; BUFFER_SIZE];
    let mut queries = 0;
    while !stop.load(Ordering::Relaxed) {
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None).unwrap();
        for event in events.drain(..) {
            // The data of an event is the index that it was registered with.
            let index = usize::try_from(event.data.u64()).unwrap();
            let client = &mut clients[index];
            client.hear(&mut buffer);
            client.ask(ids.draw());
            queries += 1;
        }
        tally.set(queries);
    }
}

fn register(clients: &[Client]) -> OwnedFd {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    for (index, client) in clients.iter().enumerate() {
        client.socket().set_nonblocking().unwrap();
        let data = epoll::EventData::new_u64(index as u64);
        let edges = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, client.socket(), data, edges).unwrap();
    }
    epoll
}
