//! A client's connection: how it is opened, and what is sent and received over it.

mod link;
mod open;
mod statements;
mod statistics;

pub(crate) use link::{Link, Transfer};
pub(crate) use open::{Connecting, Opener};
pub(crate) use statistics::flush_statistics;
