//! The birth of a server's process: everything before its first instruction.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use prony_host::{ChildSetup, Process, create_private};
use prony_model::StopFlag;

use super::{Instance, InstanceError, setup};
use crate::instance::valgrind::{Callgrind, SERVER_OPTIONS, Valgrind};

/// The time that a new process may take to become the guard, and that between two looks. Where it
/// takes longer, something is wrong with it that shows later.
const BECOMING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(1);

/// Is called with the id of a process that will become a server and is none yet; an error, in words
/// that can stand alone, ends it.
pub type OnBirth<'a> = dyn FnMut(u32) -> Result<(), String> + 'a;

/// The way in which a server starts. The usual one is the default.
#[derive(Default)]
pub struct Birth<'a> {
    /// Work of others on the process before it executes the server program: counters opened now, to
    /// begin with the execution, miss nothing. Its id stays that of the server.
    pub on_birth: Option<&'a mut OnBirth<'a>>,
    /// The counter of the server's instructions: it runs the server program, in the same process.
    pub valgrind: Option<Valgrind>,
}

/// Starts the server program.
pub(super) fn bear(
    instance: &Instance,
    birth: Birth<'_>,
    stop: &StopFlag,
) -> Result<(Process, Option<Callgrind>), InstanceError> {
    let Some(valgrind) = birth.valgrind else {
        return Ok((execute(instance, birth.on_birth, None)?, None));
    };
    let folder = instance.path("valgrind");
    create_private(&folder)?;
    let wrapper = valgrind.wrapper(&folder);
    let process = execute(instance, birth.on_birth, Some((&folder, &wrapper)))?;
    let launcher = instance.launcher.clone();
    let callgrind = valgrind.running(launcher, folder, process.id(), stop);
    let callgrind = callgrind.map_err(|error| instance.run_error(&error))?;
    Ok((process, Some(callgrind)))
}

/// Executes the server program, or what runs it, with the folder for its files.
fn execute(
    instance: &Instance,
    on_birth: Option<&mut OnBirth<'_>>,
    wrapper: Option<(&Path, &[OsString])>,
) -> Result<Process, InstanceError> {
    let setup = ChildSetup {
        hold: on_birth.is_some(),
        preload: instance.preload.clone(),
        ..setup(&instance.rendered.process)
    };
    let (_, words) = wrapper.unzip();
    let mut command = instance.command(setup, words.unwrap_or_default());
    if let Some((folder, _)) = wrapper {
        // Files that it makes in passing.
        command.env("TMPDIR", folder).args(SERVER_OPTIONS);
    }
    let Some(on_birth) = on_birth else {
        return instance.spawn(command, Stdio::null());
    };
    let mut process = instance.spawn(command, Stdio::piped())?;
    wait_for_guard(&mut process).map_err(|error| instance.run_error(&error))?;
    // Where this fails, the process is ended before it has become the server.
    on_birth(process.id()).map_err(|reason| {
        let build = &instance.build.id;
        let task = format!("prepare the process of {build} before it starts");
        instance.failure(task, reason)
    })?;
    // The guard waits for the end of its input.
    drop(process.child().stdin.take());
    Ok(process)
}

/// Waits until the process executes the guard: who starts it goes on in the middle of that, when
/// counters that begin with the next execution could still begin with this one. The kernel shows
/// the new command line after that point, and none before.
fn wait_for_guard(process: &mut Process) -> io::Result<()> {
    let path = format!("/proc/{}/cmdline", process.id());
    let end = Instant::now() + BECOMING;
    while fs::read(&path)?.is_empty() && process.try_wait()?.is_none() && Instant::now() < end {
        thread::sleep(LOOK);
    }
    Ok(())
}
