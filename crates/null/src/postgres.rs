//! The protocol of PostgreSQL, in which the client speaks first.

mod answer;
mod conversation;

use self::answer::{Answer, Canned};
use self::conversation::Conversation;
use crate::protocol::{Flow, Protocol, Reply};

/// The protocol, with its answers.
pub(crate) struct Postgres(Canned);

impl Protocol for Postgres {
    type Answer = Answer;
    type Conversation = Conversation;

    fn new() -> Self {
        Self(Canned::new())
    }

    fn append_greeting(_: &mut Vec<u8>, _: u64) {}

    fn append(&self, answer: Answer, out: &mut Vec<u8>) {
        self.0.append(answer, out);
    }

    fn take_requests<'b>(
        conversation: &mut Conversation,
        bytes: &'b [u8],
        reply: &mut dyn FnMut(Reply<Answer>),
    ) -> (Flow, &'b [u8]) {
        conversation.take_requests(bytes, reply)
    }
}
