//! The MySQL client protocol, from 4.1 to 9.x and MariaDB, as bytes and back; and in [`postgres`] what runs for
//! every statement in that of PostgreSQL.
//!
//! No I/O, no clock, and no panic on any bytes. The subset is what a benchmark needs: protocol
//! 4.1, text and prepared statements, the servers' own ways to authenticate. Deliberately absent:
//! compression, `CLIENT_DEPRECATE_EOF` (result sets end alike on every version), cursors. TLS is a matter of whoever carries the bytes. One packet kind is one file, with its description linked.

pub mod codes;
mod command;
mod connect;
mod cursor;
mod error;
mod frame;
pub mod postgres;
mod response;
mod scramble;
mod skimmer;

pub use command::close::append_close;
pub use command::execute::{ExecuteTemplate, ParamShape, Types, append_text};
pub use command::prepare::append_prepare;
pub use command::query::{append_query, begin_query};
pub use command::quit::append_quit;
pub use command::shutdown::append_shutdown;
pub use connect::auth_reply::AuthReply;
pub use connect::capabilities::Capabilities;
pub use connect::greeting::Greeting;
pub use connect::login::Login;
pub use error::WireError;
pub use frame::{
    Frame, HEADER_SIZE, PAYLOAD_MAX, append_packet, begin_packet, finish_packet, read_header,
    split_frame,
};
pub use response::column::column_name;
pub use response::eof::Eof;
pub use response::err::ErrPacket;
pub use response::first::{FirstPacket, LOCAL_ROWS};
pub use response::ok::OkPacket;
pub use response::prepare_ok::PreparedStatement;
pub use response::text_row::text_row;
pub use scramble::{
    AuthPlugin, CACHING_SHA2_KEY_REQUEST, Channel, PublicKeyError, clear_password,
    encrypted_password,
};
pub use skimmer::{Progress, Skimmer, Tally};
