//! The generator's first message: its version, and what its host has.

use std::thread::available_parallelism;

use prony_model::Backend;
use serde::{Deserialize, Serialize};

use crate::backend::{BackendError, backend_of, choose_backend, usual_threads};

/// The version of the protocol of jobs and messages.
const PROTOCOL: u32 = 6;

/// The generator's first message, before it reads its job. Who controls it may be on another host:
/// threads and backend are chosen from this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the protocol of jobs and messages.
    pub protocol: u32,
    /// The generator's version of Prony.
    pub version: String,
    /// Processors that the generator may use, at least 1.
    pub processors: usize,
    /// Backends that its host offers.
    pub backends: Vec<Backend>,
    /// The reason why `io_uring` is not among them; fits after "failed to …".
    #[serde(default)]
    pub without_io_uring: Option<String>,
}

/// A generator with another protocol. Fits after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "talk to the load generator: Prony {version} speaks version {found} of its protocol, expected \
     {PROTOCOL}; use the same version of Prony on both sides"
)]
pub struct ProtocolMismatch {
    /// The generator's version of Prony.
    version: String,
    /// Its version of the protocol.
    found: u32,
}

impl Hello {
    /// The message of a generator that is this process.
    pub fn of_this_process() -> Self {
        let refusal = choose_backend(Some(Backend::IoUring), false).err();
        let mut backends = vec![Backend::Epoll];
        if refusal.is_none() {
            backends.push(Backend::IoUring);
        }
        Self {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // Where the number of processors is not known, it is taken for the least.
            processors: available_parallelism().map_or(1, usize::from),
            backends,
            without_io_uring: refusal.map(|reason| reason.to_string()),
        }
    }

    /// Checks that both sides speak the same protocol.
    ///
    /// # Errors
    /// When they don't.
    pub fn check(&self) -> Result<(), ProtocolMismatch> {
        if self.protocol == PROTOCOL {
            return Ok(());
        }
        Err(ProtocolMismatch {
            version: self.version.clone(),
            found: self.protocol,
        })
    }

    /// Decides the backend of a run. Without a `wish` it is `io_uring` where the generator's host
    /// offers it and connections are not `encrypted`, else epoll.
    ///
    /// # Errors
    /// When the wish can't be met.
    pub fn choose_backend(
        &self,
        wish: Option<Backend>,
        encrypted: bool,
    ) -> Result<Backend, BackendError> {
        backend_of(wish, encrypted, || match &self.without_io_uring {
            None => Ok(()),
            Some(reason) => Err(BackendError::Unavailable(reason.clone())),
        })
    }

    /// Threads of the generator with this backend, where the experiment sets no number.
    pub const fn usual_threads(&self, backend: Backend) -> u32 {
        usual_threads(backend, self.processors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(without_io_uring: Option<&str>) -> Hello {
        Hello {
            without_io_uring: without_io_uring.map(str::to_owned),
            ..Hello::of_this_process()
        }
    }

    #[test]
    fn the_generators_host_decides() {
        let old = hello(Some("use io_uring: too old"));
        for (hello, wish, encrypted, backend) in [
            (hello(None), None, false, Ok(Backend::IoUring)),
            (hello(None), None, true, Ok(Backend::Epoll)),
            (hello(None), Some(Backend::Epoll), false, Ok(Backend::Epoll)),
            (old.clone(), None, false, Ok(Backend::Epoll)),
            (old, Some(Backend::IoUring), false, Err("too old")),
            (hello(None), Some(Backend::IoUring), true, Err("encrypted")),
        ] {
            match (hello.choose_backend(wish, encrypted), backend) {
                (Ok(chosen), Ok(expected)) => assert_eq!(chosen, expected),
                (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
                (chosen, _) => panic!("{wish:?} {encrypted}: {chosen:?}"),
            }
        }
    }

    #[test]
    fn another_protocol_is_refused() {
        let mut hello = Hello::of_this_process();
        assert_eq!(hello.check(), Ok(()));
        hello.protocol += 1;
        let error = hello.check().unwrap_err().to_string();
        assert!(error.contains("expected 6"), "{error}");
    }
}
