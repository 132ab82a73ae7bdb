//! A thread with one client of a closed loop: it blocks in the system call that receives, which is
//! the shortest way from the server's answer to the next request.

use std::time::Duration;

use crate::LoadError;
use crate::client::Next;
use crate::clock::now_ns;
use crate::worker::link::Transfer;
use crate::worker::{Desk, LOOK_MS, Link, Look};

/// Runs the client to its limit.
pub(super) fn run(
    link: &mut Link,
    buffer: &mut [u8],
    desk: &mut Desk<'_>,
) -> Result<(), LoadError> {
    // The warm-up may have left it otherwise.
    link.make_blocking()?;
    // Waiting ends now and then, so that the thread can look up.
    let wait = Some(Duration::from_millis(LOOK_MS));
    link.socket()
        .set_timeouts(wait)
        .map_err(|source| LoadError::System {
            action: "set the timeouts of a socket",
            source,
        })?;
    let mut next = desk.start(&mut link.client, 0, now_ns());
    while next == Next::Send {
        if ask(link, desk)? == Look::Stop || wait_for_answer(link, buffer, desk)? == Look::Stop {
            return Ok(());
        }
        let now_ns = now_ns();
        if desk.look_up(now_ns)? == Look::Stop {
            return Ok(());
        }
        next = desk.answered(&mut link.client, 0, now_ns)?;
    }
    Ok(())
}

/// Sends the client's request.
fn ask(link: &mut Link, desk: &mut Desk<'_>) -> Result<Look, LoadError> {
    let mut transfer = link.send_request(now_ns(), desk.program(link))?;
    while transfer != Transfer::Complete {
        if look_while_waiting(link, desk)? == Look::Stop {
            return Ok(Look::Stop);
        }
        transfer = link.send_rest(desk.program(link))?;
    }
    Ok(Look::GoOn)
}

/// Receives the answer to its last byte.
fn wait_for_answer(
    link: &mut Link,
    buffer: &mut [u8],
    desk: &mut Desk<'_>,
) -> Result<Look, LoadError> {
    loop {
        match link.receive(buffer, desk.program(link))? {
            Transfer::Complete => return Ok(Look::GoOn),
            Transfer::NotReady => {}
            _ => link.client.heard_ns = now_ns(),
        }
        if look_while_waiting(link, desk)? == Look::Stop {
            return Ok(Look::Stop);
        }
    }
}

fn look_while_waiting(link: &Link, desk: &mut Desk<'_>) -> Result<Look, LoadError> {
    let now_ns = now_ns();
    desk.check_silence(link, now_ns)?;
    desk.look_up(now_ns)
}
