//! A thread with one client of a closed loop: it blocks in the system call that receives, which is
//! the shortest way from the server's answer to the next request.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::LoadError;
use crate::client::Next;
use crate::clock::now_ns;
use crate::connection::{Link, Transfer};
use crate::loops::{HOUSEKEEPING_MS, State};

/// Runs the client to its limit.
pub(super) fn run(
    link: &mut Link,
    buffer: &mut [u8],
    state: &mut State<'_>,
) -> Result<(), LoadError> {
    // The warm-up may have left it otherwise.
    link.make_blocking()?;
    // Waiting ends now and then, for the thread's housekeeping.
    let wait = Some(Duration::from_millis(HOUSEKEEPING_MS));
    link.socket()
        .set_timeouts(wait)
        .map_err(|source| LoadError::System {
            action: "set the timeouts of a socket",
            source,
        })?;
    let mut next = state.start(&mut link.client, 0, now_ns());
    while next == Next::Send {
        if ask(link, state)?.is_break() || wait_for_answer(link, buffer, state)?.is_break() {
            return Ok(());
        }
        let now_ns = now_ns();
        if state.housekeeping(now_ns)?.is_break() {
            return Ok(());
        }
        next = state.answered(&mut link.client, 0, now_ns)?;
    }
    Ok(())
}

/// Sends the client's request.
fn ask(link: &mut Link, state: &mut State<'_>) -> Result<ControlFlow<()>, LoadError> {
    let mut transfer = link.send_request(now_ns(), state.program(link))?;
    while transfer != Transfer::Complete {
        if housekeeping_while_waiting(link, state)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        transfer = link.send_rest(state.program(link))?;
    }
    Ok(ControlFlow::Continue(()))
}

/// Receives the answer to its last byte.
fn wait_for_answer(
    link: &mut Link,
    buffer: &mut [u8],
    state: &mut State<'_>,
) -> Result<ControlFlow<()>, LoadError> {
    loop {
        match link.receive(buffer, state.program(link))? {
            Transfer::Complete => return Ok(ControlFlow::Continue(())),
            Transfer::NotReady => {}
            _ => link.client.heard_ns = now_ns(),
        }
        if housekeeping_while_waiting(link, state)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
}

fn housekeeping_while_waiting(
    link: &Link,
    state: &mut State<'_>,
) -> Result<ControlFlow<()>, LoadError> {
    let now_ns = now_ns();
    state.check_silence(link, now_ns)?;
    state.housekeeping(now_ns)
}
