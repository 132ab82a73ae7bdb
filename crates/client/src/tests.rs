//! Recorded conversations, of which the servers' sides are heard again.

#[path = "../../wire/tests/support/conversation.rs"]
mod conversation;
#[path = "../../wire/tests/support/damage.rs"]
mod damage;
mod mysql;
mod postgres;
