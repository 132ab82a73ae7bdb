//! A handful of hosts without an engine: one queue, from which every host takes its next task.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use prony_fleet::{Host, Round, RunFolder, read_hosts};
use rustix::process::{Pid, Signal, kill_process};

use crate::cli::CollectArgs;
use crate::commands::collect::{self, fleet_failure};
use crate::failure::Failure;
use crate::output;
use crate::signals::Signals;

/// Runs all tasks, and collects. A host that can't measure gives its task back and gets no more.
pub(super) fn run(
    folder: &RunFolder,
    round: &Round,
    file: &Path,
    signals: &Signals,
) -> Result<(), Failure> {
    let hosts = read_hosts(file).map_err(|error| fleet_failure(&error))?;
    let queue: Mutex<VecDeque<usize>> = Mutex::new((0..round.groups.len()).collect());
    thread::scope(|scope| {
        for host in &hosts {
            scope.spawn(|| work(host, (folder, round), &queue, signals));
        }
    });
    if signals.stop.requested() {
        let again = format!(
            "measure what is missing with: prony submit {} --to hosts {}",
            folder.path().display(),
            file.display()
        );
        return Err(Failure::interrupted(signals, "interrupted").with_hint(again));
    }
    collect::run(&CollectArgs {
        run: folder.path().to_owned(),
        mixed_hosts: false,
    })
}

/// Takes tasks until there are none, or the host fails at one.
fn work(
    host: &Host,
    (folder, round): (&RunFolder, &Round),
    queue: &Mutex<VecDeque<usize>>,
    signals: &Signals,
) {
    let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let next = queue().pop_front();
        let Some(task) = next.filter(|_| !signals.stop.requested()) else {
            return;
        };
        output::talk(&format!("{}: task {}", host.name, task + 1));
        let words = host.command(folder, round.number, task);
        let ended = measure(&words, signals);
        match ended {
            // 6: some trials failed, which another host would not mend.
            Ok(Some(0 | 6)) => {}
            other => {
                queue().push_front(task);
                let how = match other {
                    Ok(Some(code)) => format!("exit code {code}"),
                    Ok(None) => "killed by a signal".to_owned(),
                    Err(error) => format!("{}: {error}", words.first().map_or("", String::as_str)),
                };
                output::notice(&format!("{}: {how}; it gets no more tasks", host.name));
                return;
            }
        }
    }
}

/// Waits for a command, and passes a wish to stop on: Ctrl-C reaches children by itself, SIGTERM does
/// not.
fn measure(words: &[String], signals: &Signals) -> std::io::Result<Option<i32>> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(None);
    };
    let mut child: Child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .spawn()?;
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if signals.stop.requested() && !asked {
            asked = true;
            kill_process(Pid::from_child(&child), Signal::TERM)?;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
