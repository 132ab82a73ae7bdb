//! The turns of clients in a loop over many connections: the same whatever carries their bytes.

use crate::LoadError;
use crate::client::Next;
use crate::clock::now_ns;
use crate::connection::{Connecting, Link};
use crate::loops::State;

/// The connections of a thread, and what carries their bytes.
pub(super) trait Connections {
    /// The clients with their connections.
    fn links(&mut self) -> &mut [Link];

    /// The number of clients with a request, or a connection, under way.
    fn busy(&mut self) -> &mut usize;

    /// Sends a client's request, or sees to it that it will be sent.
    fn ask(&mut self, index: usize, state: &State<'_>) -> Result<(), LoadError>;

    /// Takes a client's new connection: sends what opens it, if the client speaks first, and listens.
    fn begin_connection(&mut self, index: usize, state: &State<'_>) -> Result<(), LoadError>;

    /// Every client begins the phase.
    fn start(&mut self, state: &mut State<'_>) -> Result<(), LoadError> {
        for index in 0..self.links().len() {
            let next = state.start(&mut self.links()[index].client, index, now_ns());
            *self.busy() += 1;
            self.turn(index, next, state)?;
        }
        Ok(())
    }

    /// Clients begin whose time has come.
    fn call_due(&mut self, now_ns: u64, state: &mut State<'_>) -> Result<(), LoadError> {
        while let Some(begin) = state.take_due(now_ns) {
            let next = state.begin(begin, &mut self.links()[begin.client].client);
            *self.busy() += 1;
            self.turn(begin.client, next, state)?;
        }
        Ok(())
    }

    /// Does what a client wants, who is counted as busy.
    #[inline]
    fn turn(&mut self, index: usize, next: Next, state: &mut State<'_>) -> Result<(), LoadError> {
        match next {
            Next::Send => self.ask(index, state),
            Next::Connect => self.connect(index, state),
            Next::Wait | Next::Rest => {
                *self.busy() -= 1;
                Ok(())
            }
        }
    }

    /// Begins a new connection of a client, or lets it try again later.
    fn connect(&mut self, index: usize, state: &mut State<'_>) -> Result<(), LoadError> {
        let link = &mut self.links()[index];
        if state.shared.opener.reconnect(link)? == Connecting::Begun {
            return self.begin_connection(index, state);
        }
        state.retry_later(&mut link.client, index, now_ns());
        *self.busy() -= 1;
        Ok(())
    }
}
