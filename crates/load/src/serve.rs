//! The load generator as a process: its greeting, one job, and its end when nobody controls it any
//! more.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::message::{Control, Speaker, write_message};
use crate::run::run_job;
use crate::{Hello, Job, LoadError, Message};

/// Attempts to write that the job failed, a pause apart, while another thread writes.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// Says [`Hello`], reads one job, a line of `input`, and runs it as [`run`](crate::run()) does. A
/// failed job is a message, for the program that reads them, and an error.
///
/// `input` must stay open until the result has come: its end ends the generator, whatever it is
/// doing. It returns at once; a thread that waits for a server goes on until the server answers, or
/// the process ends.
///
/// # Errors
/// When there is no job, it fails, or `input` ends before its result.
pub fn serve(
    mut input: impl BufRead + Send + 'static,
    out: impl Write + Send + 'static,
) -> Result<(), LoadError> {
    let mut out = Output(Arc::new(Mutex::new(out)));
    write_message(&mut out, &Message::Hello(Hello::of_this_process()))?;
    let job = read_job(&mut input)?;
    let result = run_watched(job, input, out.clone());
    if let Err(error) = &result {
        out.say_failed(error);
    }
    result
}

fn read_job(input: &mut dyn BufRead) -> Result<Job, LoadError> {
    let mut line = String::new();
    input
        .read_line(&mut line)
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&line).map_err(|error| error.to_string()))
        .map_err(|reason| LoadError::NoJob { reason })
}

/// Something that ends the generator.
enum End {
    Job(Result<(), LoadError>),
    Input,
}

/// Runs a job in a thread of its own while another one reads the input, so that the end of the
/// input is noticed at once, and at no cost for the job.
fn run_watched<O: Write + Send + 'static>(
    job: Job,
    input: impl BufRead + Send + 'static,
    mut out: Output<O>,
) -> Result<(), LoadError> {
    let (ends, end) = channel();
    let (lines, receiver) = channel();
    let input_ends = ends.clone();
    spawn("input", move || forward(input, &lines, &input_ends))?;
    let control = Arc::new(Control::default());
    let of_job = Arc::clone(&control);
    spawn("load-0", move || {
        let mut input = BufReader::new(Lines { receiver });
        let mut speaker = Speaker::new(&mut input, &mut out).with_control(of_job);
        // The receiver is gone where the input ended first.
        let _ = ends.send(End::Job(run_job(&job, &mut speaker)));
    })?;
    loop {
        match end.recv() {
            Ok(End::Job(result)) => return result,
            // What was asked for is there and on its way.
            Ok(End::Input) if control.result_is_due.load(Ordering::SeqCst) => {}
            Ok(End::Input) => {
                control.is_abandoned.store(true, Ordering::SeqCst);
                return Err(LoadError::Abandoned);
            }
            // The job's thread has panicked.
            Err(_) => return Err(LoadError::Thread),
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), LoadError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|source| LoadError::System {
            action: "start a thread",
            source,
        })
}

/// Forwards the input's complete lines, and then its end.
fn forward(mut input: impl BufRead, lines: &Sender<Vec<u8>>, ends: &Sender<End>) {
    loop {
        let mut line = Vec::new();
        // An input that can't be read has ended.
        let _ = input.read_until(b'\n', &mut line);
        if line.last() != Some(&b'\n') {
            break;
        }
        // A job that has ended takes no lines.
        let _ = lines.send(line);
    }
    let _ = ends.send(End::Input);
}

/// Lines from another thread, as an input.
struct Lines {
    receiver: Receiver<Vec<u8>>,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Only line ends count, and a line has one: its text is not passed on.
        match (self.receiver.recv(), buffer.first_mut()) {
            (Ok(_), Some(byte)) => {
                *byte = b'\n';
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

/// An output that two threads write to, a whole line at a time.
struct Output<O>(Arc<Mutex<O>>);

impl<O> Clone for Output<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O: Write> Output<O> {
    /// Says that the job failed, unless another thread is stuck in writing: a reader that has gone
    /// does not miss it, and the exit code says so too.
    fn say_failed(&self, error: &LoadError) {
        let free = (0..LOCK_ATTEMPTS).find_map(|_| {
            let out = self.0.try_lock().ok();
            if out.is_none() {
                thread::sleep(LOCK_PAUSE);
            }
            out
        });
        if let Some(mut out) = free {
            let reason = error.to_string();
            let _ = write_message(&mut *out, &Message::Failed { reason });
        }
    }
}

impl<O: Write> Write for Output<O> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.flush()
    }
}
