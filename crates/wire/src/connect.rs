//! Packets of the connection phase.

pub(crate) mod auth_reply;
pub(crate) mod capabilities;
pub(crate) mod greeting;
pub(crate) mod login;
