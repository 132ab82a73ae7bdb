//! The load generator as a process: its greeting, one job, and its end when nobody controls it any
//! more.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::dup;

use crate::message::{Speaker, write_message};
use crate::run::run_job;
use crate::{Hello, Job, LoadError, Message};

/// Signs that the other end of a pipe, socket or terminal is closed.
const CLOSED: PollFlags = PollFlags::HUP.union(PollFlags::RDHUP).union(PollFlags::ERR);

/// Says [`Hello`], reads one job, a line of `input`, and runs it as [`run`](crate::run()) does. A
/// failed job is a message, for the program that reads them, and an error.
///
/// `input` must stay open until the measured time, or the fill, is over: when its other end is
/// closed, the generator ends. It looks for that when its threads do their housekeeping, between
/// two connections and between statements of a fill or a check; a thread beside the job would make
/// the system calls of the C library dearer for all queries.
///
/// # Errors
/// When there is no job, it fails, or `input` ends before its result.
pub fn serve(input: impl Read + AsFd + Send, mut out: impl Write + Send) -> Result<(), LoadError> {
    write_message(&mut out, &Message::Hello(Hello::of_this_process()))?;
    let watched = dup(&input).map_err(LoadError::system("watch the input"))?;
    let mut input = BufReader::new(input);
    let result = read_job(&mut input).and_then(|job| {
        let is_closed = || is_closed(&watched);
        let mut speaker = Speaker::watching(&mut input, &mut out, &is_closed);
        run_job(&job, &mut speaker)
    });
    if let Err(error) = &result {
        let reason = error.to_string();
        // A reader that has gone does not miss it; the exit code tells the rest.
        let _ = write_message(&mut out, &Message::Failed { reason });
    }
    result
}

fn read_job(input: &mut dyn BufRead) -> Result<Job, LoadError> {
    let mut line = String::new();
    input
        .read_line(&mut line)
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&line).map_err(|error| error.to_string()))
        .map_err(LoadError::NoJob)
}

/// Whether the other end is closed. A file has none, and is never closed.
fn is_closed(input: &impl AsFd) -> bool {
    let mut inputs = [PollFd::new(input, PollFlags::RDHUP)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut inputs, Some(&at_once)).is_ok() && inputs[0].revents().intersects(CLOSED)
}
