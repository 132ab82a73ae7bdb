//! Packets of the command phase, from the server.

pub(crate) mod column;
pub(crate) mod eof;
pub(crate) mod err;
pub(crate) mod first;
pub(crate) mod ok;
pub(crate) mod prepare_ok;
pub(crate) mod text_row;

/// `SERVER_MORE_RESULTS_EXISTS`: another result follows this one.
pub(crate) const STATUS_MORE_RESULTS: u16 = 8;
