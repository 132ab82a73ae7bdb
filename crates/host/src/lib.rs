//! Prony's part of a host: the folders of its cache, locks between its processes, and child
//! processes that end with it. Everything carries the mark of its owner, so that what a killed
//! Prony left behind can be told from what is in use.
//!
//! Nothing here knows what a server is.

mod exit;
mod folder;
pub mod guard;
mod io_error;
mod launcher;
mod leftovers;
mod lock;
mod owner;
mod roots;
mod threads;
mod workers;

pub use exit::describe_exit;
pub use folder::{
    Abandoned, MARK, OwnedFolder, STAGING, remove_abandoned, retire, sync_filesystem,
};
pub use guard::{ChildSetup, Death};
pub use io_error::{At, IoError, gone};
pub use launcher::{Launcher, LauncherError, Process, tail};
pub use leftovers::{Leftover, clear_leftovers};
pub use lock::FileLock;
pub use owner::{Owner, OwnerError, OwnerState, Site};
pub use roots::{Roots, RootsError, create_private, write_private};
pub use threads::{
    Thread, bind_thread, children_of, group_members, group_threads, is_gone, thread_cpus,
    threads_by_cpus, threads_of, usable_cpus,
};
