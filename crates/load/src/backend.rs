//! The choice of the backend that drives the connections, by what the kernel offers.

use std::fs;
use std::io;

use io_uring::IoUring;
use prony_model::Backend;
use rustix::io::Errno;

/// Permission to use `io_uring`: 0 for all, 1 for members of a group, 2 for none (Linux 6.6 and
/// later).
const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

/// Reason why connections can't be driven by `io_uring`. Fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// Bytes would have to be encrypted between the socket and the ring.
    #[error("use io_uring: it does not support encrypted connections; choose epoll")]
    Encrypted,
    /// The system's settings forbid it.
    #[error(
        "use io_uring: kernel.io_uring_disabled is {setting}; set it to 0 (`sysctl \
         kernel.io_uring_disabled=0`), or choose epoll"
    )]
    Disabled {
        /// The setting's value: 1 or 2.
        setting: u8,
    },
    /// The kernel refuses it to this process.
    #[error(
        "use io_uring: this process is not permitted to, as in containers whose seccomp profile \
         forbids it; allow io_uring_setup, io_uring_enter and io_uring_register there, or choose \
         epoll"
    )]
    NotPermitted,
    /// The kernel lacks it, or what is needed of it.
    #[error("use io_uring: the kernel lacks it or is older than Linux 6.1; choose epoll")]
    TooOld,
    /// The generator's host does not offer it.
    #[error("{0}")]
    Unavailable(String),
    /// The system failed for another reason.
    #[error("use io_uring: {0}; choose epoll")]
    System(#[source] io::Error),
}

/// Default number of threads that drive connections on a host with this many processors.
/// Two drive thousands of connections, and more would take processors away from the server. A ring
/// does more in one thread than two can on two processors: there one took a fifth less processor
/// time for a query at 64 clients, and the server answered as many.
pub const fn usual_threads(backend: Backend, processors: usize) -> u32 {
    match (backend, processors) {
        (Backend::IoUring, ..=3) => 1,
        _ => 2,
    }
}

/// Decides the backend of a run. Without a `wish` it is `io_uring` where the kernel offers what is
/// needed and connections are not `encrypted`, else epoll. Tries it out, so the answer holds for
/// processes like this one.
///
/// # Errors
/// When the wish can't be met.
pub fn choose_backend(wish: Option<Backend>, encrypted: bool) -> Result<Backend, BackendError> {
    backend_of(wish, encrypted, try_ring)
}

/// Decides likewise where `offered` fails if there is no `io_uring`.
pub(crate) fn backend_of(
    wish: Option<Backend>,
    encrypted: bool,
    offered: impl FnOnce() -> Result<(), BackendError>,
) -> Result<Backend, BackendError> {
    if wish == Some(Backend::Epoll) {
        return Ok(Backend::Epoll);
    }
    let possible = if encrypted {
        Err(BackendError::Encrypted)
    } else {
        offered()
    };
    match (possible, wish) {
        (Ok(()), _) => Ok(Backend::IoUring),
        (Err(_), None) => Ok(Backend::Epoll),
        (Err(error), Some(_)) => Err(error),
    }
}

/// Makes a ring, which only the thread that makes it may use.
///
/// Completions are worked off when the thread waits for them, and at no other time (Linux 6.1):
/// else every arriving answer would interrupt it.
pub(crate) fn new_ring(submissions: u32, completions: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_submit_all()
        .setup_clamp()
        .setup_cqsize(completions)
        .build(submissions)
}

fn try_ring() -> Result<(), BackendError> {
    let ring = new_ring(2, 4).map_err(explain)?;
    let features = ring.params();
    if !features.is_feature_ext_arg() || !features.is_feature_skip_cqe_on_success() {
        return Err(BackendError::TooOld);
    }
    ring.submitter().register_files_sparse(1).map_err(explain)
}

fn explain(source: io::Error) -> BackendError {
    match Errno::from_io_error(&source) {
        Some(Errno::NOSYS | Errno::INVAL) => BackendError::TooOld,
        Some(Errno::PERM | Errno::ACCESS) => match setting() {
            Some(setting) if setting > 0 => BackendError::Disabled { setting },
            _ => BackendError::NotPermitted,
        },
        _ => BackendError::System(source),
    }
}

fn setting() -> Option<u8> {
    fs::read_to_string(DISABLED).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoll_is_always_there() {
        for encrypted in [false, true] {
            let chosen = choose_backend(Some(Backend::Epoll), encrypted);
            assert!(matches!(chosen, Ok(Backend::Epoll)));
        }
    }

    #[test]
    fn encrypted_connections_use_epoll() {
        assert!(matches!(choose_backend(None, true), Ok(Backend::Epoll)));
        let refused = choose_backend(Some(Backend::IoUring), true).unwrap_err();
        assert!(matches!(refused, BackendError::Encrypted));
    }

    #[test]
    fn without_a_wish_the_kernel_decides() {
        let possible = choose_backend(Some(Backend::IoUring), false);
        let expected = match possible {
            Ok(backend) => backend,
            Err(_) => Backend::Epoll,
        };
        assert_eq!(choose_backend(None, false).unwrap(), expected);
    }

    #[test]
    fn refusals_say_why() {
        let reason = |errno: Errno| explain(errno.into()).to_string();
        assert!(reason(Errno::NOSYS).contains("6.1"));
        assert!(reason(Errno::INVAL).contains("6.1"));
        assert!(reason(Errno::PERM).contains("io_uring"));
        assert!(reason(Errno::MFILE).contains("open files"));
        for errno in [Errno::NOSYS, Errno::PERM, Errno::NOMEM] {
            assert!(reason(errno).contains("choose epoll"));
        }
    }
}
