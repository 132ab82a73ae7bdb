//! Every test that drives load runs behind every backend, and some in every protocol.

use std::cell::Cell;

use prony_load::choose_backend;
use prony_model::{Backend, Family};

use crate::testkit;

thread_local! {
    static CHOSEN: Cell<Backend> = const { Cell::new(Backend::Epoll) };
}

/// What drives the connections in the test that this thread runs.
pub(crate) fn chosen() -> Backend {
    CHOSEN.get()
}

/// Runs a test behind a backend; says so where the kernel does not offer it, which on machines
/// that decide about changes is an error.
pub(crate) fn run_with(backend: Backend, test: fn()) {
    if let Err(reason) = choose_backend(Some(backend), false) {
        assert!(std::env::var_os("CI").is_none(), "failed to {reason}");
        println!("left out: failed to {reason}");
        return;
    }
    CHOSEN.set(backend);
    test();
}

/// Chooses backend and protocol of what this thread runs.
pub(crate) fn choose(backend: Backend, family: Family) {
    CHOSEN.set(backend);
    testkit::speak(family);
}

/// Makes two tests of each function: one for each backend.
macro_rules! behind_each_backend {
    ($($test:ident),* $(,)?) => {
        mod epoll {
            $(#[test]
            fn $test() {
                crate::backend::run_with(prony_model::Backend::Epoll, super::$test);
            })*
        }
        mod io_uring {
            $(#[test]
            fn $test() {
                crate::backend::run_with(prony_model::Backend::IoUring, super::$test);
            })*
        }
    };
}
pub(crate) use behind_each_backend;

/// Makes four tests of each function: one for each backend and protocol.
macro_rules! behind_each_backend_in_each_protocol {
    ($($test:ident),* $(,)?) => {
        crate::backend::behind_each_backend!($($test),*);
        mod postgres_epoll {
            $(#[test]
            fn $test() {
                crate::testkit::speak(prony_model::Family::Postgresql);
                crate::backend::run_with(prony_model::Backend::Epoll, super::$test);
            })*
        }
        mod postgres_io_uring {
            $(#[test]
            fn $test() {
                crate::testkit::speak(prony_model::Family::Postgresql);
                crate::backend::run_with(prony_model::Backend::IoUring, super::$test);
            })*
        }
    };
}
pub(crate) use behind_each_backend_in_each_protocol;
