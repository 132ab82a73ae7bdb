//! A protocol, as the server needs it.

/// The server's side of a protocol, with the answers that are the same every time.
pub(crate) trait Protocol {
    /// The answer to one request.
    type Answer: Copy;
    /// The state of one conversation.
    type Conversation: Default;

    /// Makes the answers.
    fn new() -> Self;

    /// Appends what the server says before the client does, if anything.
    fn append_greeting(out: &mut Vec<u8>, connection: u64);

    /// Appends an answer, framed.
    fn append(&self, answer: Self::Answer, out: &mut Vec<u8>);

    /// Replies to every whole request of `bytes`; returns what follows them.
    fn take_requests<'b>(
        conversation: &mut Self::Conversation,
        bytes: &'b [u8],
        reply: &mut dyn FnMut(Reply<Self::Answer>),
    ) -> (Flow, &'b [u8]);
}

/// Presence of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// More requests may come.
    GoOn,
    /// An answer has been sent after which the conversation ends.
    End,
    /// The client said goodbye.
    Goodbye,
}

/// Answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply<A> {
    /// The answer to a query, which is what service time is for.
    Query(A),
    /// The answer to anything else.
    Other(A),
    /// Nothing: the command has no answer.
    Silence,
    /// The client goes.
    Goodbye,
}

/// The beginning of a request whose end has not come.
#[derive(Debug, Default)]
pub(crate) struct Pending(Vec<u8>);

impl Pending {
    /// Takes the next bytes of the stream; `take` takes whole requests and returns what follows them.
    pub(crate) fn hear(&mut self, bytes: &[u8], take: impl FnOnce(&[u8]) -> (Flow, &[u8])) -> Flow {
        if self.0.is_empty() {
            let (flow, rest) = take(bytes);
            self.0.extend_from_slice(rest);
            return flow;
        }
        self.0.extend_from_slice(bytes);
        let (flow, rest) = take(&self.0);
        let taken = self.0.len() - rest.len();
        self.0.drain(..taken);
        flow
    }
}
