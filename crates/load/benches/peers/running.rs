//! A contestant at work.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use prony_host::Process;

use crate::contestant::Program;

/// A process with its output, which is read as it comes. Dropping it kills the process.
pub(crate) struct Contending {
    process: Process,
    output: Receiver<String>,
}

impl Contending {
    pub(crate) fn start(mut program: Program) -> Self {
        program
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut process = program.launcher.spawn(program.command).unwrap();
        let mut input = process.child().stdin.take().unwrap();
        input.write_all(&program.input).unwrap();
        let mut stdout = process.child().stdout.take().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            // Who ended the process early does not want its output.
            let _ = sender.send(text);
        });
        Self { process, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// What it printed, when it has ended by itself.
    pub(crate) fn output(mut self) -> String {
        let output = self.output.recv().unwrap();
        let status = self.process.wait().unwrap();
        assert!(status.success(), "a contestant failed ({status}): {output}");
        output
    }

    /// Ends it.
    pub(crate) fn kill(mut self) {
        self.process.kill();
    }
}
