//! Packets of the command phase, from the client.

pub(crate) mod close;
pub(crate) mod execute;
pub(crate) mod prepare;
pub(crate) mod query;
pub(crate) mod quit;
pub(crate) mod shutdown;
