//! Answers that wait for their time: a server that serves one query after the other.

use std::collections::VecDeque;

/// Answers in the order in which they are due.
#[derive(Debug)]
pub(crate) struct Queue<A> {
    service_ns: u64,
    /// The time when the last of all answers so far is due.
    last_due_ns: u64,
    waiting: VecDeque<Waiting<A>>,
}

#[derive(Debug)]
struct Waiting<A> {
    due_ns: u64,
    /// Number of the connection.
    to: u64,
    answer: A,
}

/// Cost of an answer for the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Its service time.
    Service,
    /// Nothing: it only keeps its place behind those before it.
    Nothing,
}

impl<A> Queue<A> {
    /// A server that takes `service_ns` nanoseconds for each query.
    pub(crate) const fn new(service_ns: u64) -> Self {
        Self {
            service_ns,
            last_due_ns: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Takes a request that arrived at `now_ns`. Its service begins when it has arrived and all
    /// before it are served.
    pub(crate) fn push(&mut self, now_ns: u64, to: u64, answer: A, cost: Cost) {
        let begin_ns = self.last_due_ns.max(now_ns);
        self.last_due_ns = match cost {
            Cost::Service => begin_ns.saturating_add(self.service_ns),
            Cost::Nothing => begin_ns,
        };
        self.waiting.push_back(Waiting {
            due_ns: self.last_due_ns,
            to,
            answer,
        });
    }

    /// The time when the next answer is due.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.waiting.front().map(|next| next.due_ns)
    }

    /// The next answer, if it is due at `now_ns`.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(u64, A)> {
        let next = self.waiting.pop_front_if(|next| next.due_ns <= now_ns)?;
        Some((next.to, next.answer))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mysql::answer::Answer;

    #[test]
    fn queries_are_served_one_after_the_other() {
        let mut queue = Queue::new(100);
        queue.push(1_000, 7, Answer::TextRow, Cost::Service);
        queue.push(1_010, 7, Answer::BinaryRow, Cost::Service);
        queue.push(1_020, 7, Answer::Welcome, Cost::Nothing);
        assert_eq!(queue.next_due_ns(), Some(1_100));
        assert_eq!(queue.pop_due(1_099), None);
        assert_eq!(queue.pop_due(1_100), Some((7, Answer::TextRow)));
        assert_eq!(queue.pop_due(1_199), None);
        assert_eq!(queue.pop_due(1_200), Some((7, Answer::BinaryRow)));
        assert_eq!(queue.pop_due(1_200), Some((7, Answer::Welcome)));
        assert_eq!(queue.next_due_ns(), None);
        queue.push(5_000, 7, Answer::TextRow, Cost::Service);
        assert_eq!(queue.next_due_ns(), Some(5_100));
    }

    proptest! {
        /// Answer k is due at max(arrival, due of the one before) + service time, in this order.
        #[test]
        fn due_times_follow_the_formula(
            service_ns in 1..1_000_u64,
            gaps in proptest::collection::vec(0..1_500_u64, 1..50),
        ) {
            let mut queue = Queue::new(service_ns);
            let (mut arrival_ns, mut due_ns) = (1, 0);
            let mut expected = Vec::new();
            for gap in gaps {
                arrival_ns += gap;
                due_ns = due_ns.max(arrival_ns) + service_ns;
                expected.push(due_ns);
                queue.push(arrival_ns, 7, Answer::TextRow, Cost::Service);
            }
            for due_ns in expected {
                prop_assert_eq!(queue.next_due_ns(), Some(due_ns));
                prop_assert_eq!(queue.pop_due(due_ns - 1), None);
                prop_assert!(queue.pop_due(due_ns).is_some());
            }
        }
    }
}
