//! The MySQL client protocol as bytes, without I/O.
