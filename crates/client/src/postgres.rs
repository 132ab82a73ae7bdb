//! Conversations with servers of PostgreSQL.

mod answer;
pub(crate) mod connection;
mod login;
mod messages;
pub(crate) mod opening;
#[cfg(test)]
mod tests;
