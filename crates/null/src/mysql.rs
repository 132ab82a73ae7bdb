//! The protocol of MySQL and MariaDB.

pub(crate) mod answer;
mod conversation;

use self::answer::{Answer, Canned, append_greeting};
use self::conversation::Conversation;
use crate::protocol::{Flow, Protocol, Reply};

/// The protocol, with its answers.
pub(crate) struct Mysql(Canned);

impl Protocol for Mysql {
    type Answer = Answer;
    type Conversation = Conversation;

    fn new() -> Self {
        Self(Canned::new())
    }

    fn append_greeting(out: &mut Vec<u8>, connection: u64) {
        append_greeting(out, connection);
    }

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
