//! What real servers said, read again: whole, in two pieces cut anywhere, cut short, and damaged.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail the test"
)]

#[path = "../support/conversation.rs"]
mod conversation;
#[path = "../support/damage.rs"]
mod damage;
mod damaged;
mod postgres;
mod recorded;
mod walk;
