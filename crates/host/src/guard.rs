//! The work of the hidden `guard` sub-command: a child process that can't outlive its parent.
//!
//! Between fork and exec only async-signal-safe code may run, which safe Rust can't promise. So
//! the binary starts itself once more, arms the kernel's parent-death signal from ordinary code,
//! and then becomes the program that was wanted. What else must be set up between the two, such as
//! the processors that the program may use, is set up here too; all of it survives the execution.
//! And where something has to be done to the process by others, such as counting from its first
//! instruction on, the guard holds until they are done.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use nix::sched::{CloneFlags, unshare};
use prony_model::{CpuSet, HugePages};
use rustix::io::Errno;
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use rustix::thread::{disable_transparent_huge_pages, sched_getaffinity, sched_setaffinity};

use crate::threads::mask_of;

/// The variable that names libraries to load before all others, `ld.so(8)`.
const PRELOAD: &str = "LD_PRELOAD";

/// The properties of a child process beside its program and arguments, which the guard sets up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChildSetup {
    /// The processors that it may use; `None` for those that this process may use.
    pub cpus: Option<CpuSet>,
    /// Transparent huge pages.
    pub huge_pages: HugePages,
    /// Libraries to load before all others, in this order; without colon or space in their paths.
    pub preload: Vec<PathBuf>,
    /// True where the program must run neither as root nor as a user without a name, and is `nobody` in a
    /// user namespace of its own if this user is one of them. Its files stay this user's.
    pub not_as_root: bool,
    /// The end of the program when its parent dies.
    pub death: Death,
    /// True for a guard that, when all else is set up, waits until its standard input is closed
    /// before it becomes the program, whose standard input is `/dev/null` then.
    pub hold: bool,
}

/// The signal that ends a program with all of its processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Death {
    /// SIGKILL, which nothing survives. Processes of other groups are not reached.
    #[default]
    Kill,
    /// SIGQUIT, by which PostgreSQL ends all of its processes at once, each of which is in a session of its
    /// own; SIGKILL for what is left.
    Quit,
}

/// A guard that did not become the program.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The kernel refuses the parent-death signal.
    #[error("ask the kernel to end this process with its parent: {0}")]
    DeathSignal(io::Error),
    /// The parent died before the signal was armed; the child is not needed.
    #[error("the parent process {0} is gone")]
    Orphaned(u32),
    /// The program can't run as another user.
    #[error(
        "run as another user in a user namespace, since this program runs neither as root nor as a user without a \
         name: {}; run Prony as an ordinary user with an entry in /etc/passwd, or allow user namespaces: by \
         `sysctl user.max_user_namespaces=1000`, or for a container of Docker by `--cap-add SYS_ADMIN` or a \
         seccomp profile that lets it call unshare",
        refused(.0)
    )]
    UserNamespace(io::Error),
    /// The kernel does not let the program run where it should.
    #[error("run on the processors {wanted}: {reason}")]
    Cpus {
        /// The request.
        wanted: CpuSet,
        /// Its mistake.
        reason: String,
    },
    /// The kernel does not take the setting.
    #[error("turn transparent huge pages off: {0}")]
    HugePages(io::Error),
    /// The end of standard input can't be waited for.
    #[error("wait for the end of standard input: {0}")]
    Hold(io::Error),
    /// The program can't be executed.
    #[error("execute {}: {source}", program.display())]
    Exec {
        /// The program as it was given.
        program: OsString,
        /// The answer of the operating system.
        source: io::Error,
    },
}

/// Arms the parent-death signal, makes sure that the parent is still `parent`, applies the
/// setup, holds where that asks for it, and becomes `program`, which is looked up on `PATH`. Returns
/// only when that failed.
pub fn exec(
    parent: u32,
    setup: &ChildSetup,
    program: &OsStr,
    arguments: &[OsString],
) -> GuardError {
    let mut command = Command::new(program);
    if let Err(error) = prepare(parent, setup, &mut command) {
        return error;
    }
    let source = command.args(arguments).exec();
    GuardError::Exec {
        program: program.to_owned(),
        source,
    }
}

fn prepare(parent: u32, setup: &ChildSetup, command: &mut Command) -> Result<(), GuardError> {
    let check_parent = || match parent_id() {
        id if id == parent => Ok(()),
        _ => Err(GuardError::Orphaned(parent)),
    };
    check_parent()?;
    // First, because a change of the user takes the death signal away.
    if setup.not_as_root && (geteuid().is_root() || !has_name()) {
        become_nobody().map_err(GuardError::UserNamespace)?;
    }
    let signal = match setup.death {
        Death::Kill => Signal::KILL,
        Death::Quit => Signal::QUIT,
    };
    let armed = set_parent_process_death_signal(Some(signal));
    armed.map_err(|errno| GuardError::DeathSignal(errno.into()))?;
    // Checked again: a parent that died before arming is noticed here, one that dies later kills.
    check_parent()?;
    if let Some(cpus) = &setup.cpus {
        run_on(cpus)?;
    }
    if setup.huge_pages == HugePages::Never {
        let off = disable_transparent_huge_pages(true);
        off.map_err(|errno| GuardError::HugePages(errno.into()))?;
    }
    if setup.hold {
        io::copy(&mut io::stdin(), &mut io::sink()).map_err(GuardError::Hold)?;
        // A parent that dies closes its end of the input too, and that is no word to go on.
        check_parent()?;
        command.stdin(Stdio::null());
    }
    if !setup.preload.is_empty() {
        command.env(PRELOAD, preload_list(&setup.preload));
    }
    Ok(())
}

/// The reason why the kernel makes no user namespace. Source: `unshare(2)`.
fn refused(error: &io::Error) -> String {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOSPC | Errno::USERS) => {
            "the system allows no more of them (user.max_user_namespaces)".to_owned()
        }
        Some(Errno::PERM) => {
            "the system or its container forbids them (operation not permitted)".to_owned()
        }
        _ => error.to_string(),
    }
}

/// True where the user has an entry among the users, which containers may lack. What can't be read has none.
fn has_name() -> bool {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid());
    user.is_ok_and(|user| user.is_some())
}

/// Moves this process into a user namespace in which this user's files and processes are those of `nobody`, who
/// has an entry among the users everywhere. Shared memory is in a namespace too, and goes with it. Source of
/// the order: `user_namespaces(7)`.
fn become_nobody() -> io::Result<()> {
    const NOBODY: u32 = 65_534;
    let map = |id: u32| format!("{NOBODY} {id} 1");
    let maps = [
        ("uid_map", map(geteuid().as_raw())),
        ("gid_map", map(getegid().as_raw())),
    ];
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWIPC)?;
    // Who may not set groups may map his own.
    fs::write("/proc/self/setgroups", "deny")?;
    for (file, map) in maps {
        fs::write(Path::new("/proc/self").join(file), map)?;
    }
    Ok(())
}

/// Libraries as the loader takes them, `ld.so(8)`.
pub fn preload_list(libraries: &[PathBuf]) -> OsString {
    let paths: Vec<_> = libraries.iter().map(|path| path.as_os_str()).collect();
    paths.join(OsStr::new(":"))
}

/// Binds this process to processors. The kernel leaves out those that there are not, without a
/// word; here that is an error.
fn run_on(cpus: &CpuSet) -> Result<(), GuardError> {
    let refused = |reason: String| GuardError::Cpus {
        wanted: cpus.clone(),
        reason,
    };
    let mask = mask_of(cpus);
    match sched_setaffinity(None, &mask).and_then(|()| sched_getaffinity(None)) {
        Ok(got) if got == mask => Ok(()),
        Ok(_) | Err(Errno::INVAL) => Err(refused(
            "this process may not use all of them, or the machine has fewer".to_owned(),
        )),
        Err(errno) => Err(refused(io::Error::from(errno).to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_parent_is_noticed() {
        let error = exec(0, &ChildSetup::default(), OsStr::new("true"), &[]);
        assert!(matches!(error, GuardError::Orphaned(0)), "{error}");
    }

    #[test]
    fn a_refused_user_namespace_has_a_reason_and_a_remedy() {
        for (errno, reason) in [
            (Errno::NOSPC, "the system allows no more of them"),
            (Errno::PERM, "its container forbids them"),
            (Errno::NOMEM, "Cannot allocate memory"),
        ] {
            let message = GuardError::UserNamespace(errno.into()).to_string();
            assert!(message.contains(reason), "{message}");
            assert!(
                message.contains("run Prony as an ordinary user"),
                "{message}"
            );
        }
    }

    #[test]
    fn processors_that_there_are_not_are_refused() {
        // The set belongs to the thread, so that other tests do not notice.
        let allowed = sched_getaffinity(None).unwrap();
        let first = (0..1024).find(|cpu| allowed.is_set(*cpu)).unwrap();
        let refused = run_on(&format!("{first},1023").parse().unwrap()).unwrap_err();
        let message = refused.to_string();
        assert!(message.contains(&format!("{first},1023")), "{message}");
        assert!(message.contains("the machine has fewer"), "{message}");
        run_on(&first.to_string().parse().unwrap()).unwrap();
        assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
    }
}
