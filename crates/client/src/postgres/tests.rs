//! Against fake servers: each is a thread that plays one side of one conversation.

mod login;
mod opening;
mod server;
mod statements;
