//! A load generator as a child process of this one.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use prony_host::{ChildSetup, Launcher, Process, describe_exit};
use prony_model::CpuSet;

use crate::error::GeneratorError;

/// Limit for a generator that closed its output to end.
const DYING: Duration = Duration::from_secs(2);

/// A running load generator. Dropping it kills the process.
pub(crate) struct Child {
    process: Process,
    /// Open as long as the generator may hold: its end means that the lab is gone.
    input: Option<ChildStdin>,
}

/// What comes from a generator.
pub(crate) enum Line {
    Output(String),
    /// The output is closed; what the process said on its error output.
    Closed(String),
    /// It ended, in words that follow "the load generator ended early:".
    Ended(String),
}

impl Child {
    /// Starts a load generator. `deliver` gets what comes from it, until it returns `false`.
    pub(crate) fn spawn(
        launcher: &Launcher,
        mut command: Command,
        deliver: impl FnMut(Line) -> bool + Send + 'static,
    ) -> Result<Self, GeneratorError> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = launcher
            .spawn(command)
            .map_err(|error| GeneratorError::start(&error))?;
        let child = process.child();
        let input = child.stdin.take();
        if let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) {
            thread::spawn(move || forward(output, errors, deliver));
        }
        Ok(Self { process, input })
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// A child that has died does not listen; what it said before explains more than the error of
    /// writing to it, so that error is not one.
    pub(crate) fn tell(&mut self, line: &[u8]) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(line);
        }
    }

    /// The end of a child that closed its output.
    pub(crate) fn describe_end(&mut self, errors: &str) -> String {
        let status = match self.process.wait_timeout(DYING) {
            Ok(Some(status)) => format!("it {}", describe_exit(status)),
            Ok(None) => "it closed its output but did not end".to_owned(),
            Err(error) => error.to_string(),
        };
        match errors.trim() {
            "" => status,
            said => format!("{status}; its output: {said}"),
        }
    }
}

/// The command of every load generator, on the processors `cpus` if not on all.
pub(crate) fn command(launcher: &Launcher, prony: &Path, cpus: Option<&CpuSet>) -> Command {
    let setup = ChildSetup {
        cpus: cpus.cloned(),
        ..ChildSetup::default()
    };
    let mut command = launcher.command_with(prony, &setup);
    command.arg("generator");
    command
}

fn forward(output: ChildStdout, mut errors: ChildStderr, mut deliver: impl FnMut(Line) -> bool) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if !deliver(Line::Output(line)) {
            return;
        }
    }
    let mut said = String::new();
    // Unreadable words are missing from an explanation, nothing more.
    let _ = errors.read_to_string(&mut said);
    deliver(Line::Closed(said));
}
