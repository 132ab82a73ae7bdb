//! Work on many items by two threads.

use std::iter::Enumerate;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::vec::IntoIter;

/// Items from which on a second thread is worth its start.
const SHARED_FROM: usize = 32;

/// Items that no thread has taken yet, with their places. They are taken one by one, because neither
/// items nor processors are all alike.
pub(crate) struct Queue<T>(Mutex<Enumerate<IntoIter<T>>>);

/// Results with the places of their items.
pub(crate) struct Done<R>(Vec<(usize, R)>);

impl<T> Queue<T> {
    /// What `work` makes of the items that it gets, until none is left.
    pub(crate) fn work<R>(&self, mut work: impl FnMut(T) -> R) -> Done<R> {
        let next = || self.0.lock().unwrap_or_else(PoisonError::into_inner).next();
        let mut done = Vec::new();
        while let Some((place, item)) = next() {
            done.push((place, work(item)));
        }
        Done(done)
    }
}

/// What `work` makes of each item, in their order. A second thread helps with many items.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let by_queue = |queue: &Queue<T>| queue.work(&work);
    let helper = (items.len() >= SHARED_FROM).then_some(by_queue);
    share(items, by_queue, helper)
}

/// The results of `one` and `other`, which a second thread works on.
pub(crate) fn both<A, B: Send>(
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        (
            one,
            other.join().unwrap_or_else(|panic| resume_unwind(panic)),
        )
    })
}

/// The results of this thread and of a helper, in the order of the items. There is one thread without
/// `helper`.
pub(crate) fn share<T: Send, R: Send>(
    items: Vec<T>,
    own: impl FnOnce(&Queue<T>) -> Done<R>,
    helper: Option<impl FnOnce(&Queue<T>) -> Done<R> + Send>,
) -> Vec<R> {
    let queue = Queue(Mutex::new(items.into_iter().enumerate()));
    let mut done = thread::scope(|scope| {
        let helper = helper.map(|helper| scope.spawn(|| helper(&queue)));
        let Done(mut done) = own(&queue);
        if let Some(helper) = helper {
            let Done(more) = helper.join().unwrap_or_else(|panic| resume_unwind(panic));
            done.extend(more);
        }
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        for n in [0, 1, SHARED_FROM - 1, SHARED_FROM, 1001] {
            let items: Vec<usize> = (0..n).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map(items, |item| item * 2), expected);
        }
    }

    #[test]
    fn a_helper_does_what_the_thread_leaves() {
        let one = |queue: &Queue<char>| queue.work(|item| (item, "own"));
        let none = None::<fn(&Queue<char>) -> Done<(char, &'static str)>>;
        assert_eq!(share(vec!['a'], one, none), [('a', "own")]);
        let nothing = |_: &Queue<char>| Done(Vec::new());
        let helper = |queue: &Queue<char>| queue.work(|item| (item, "helper"));
        let done = share(vec!['a', 'b'], nothing, Some(helper));
        assert_eq!(done, [('a', "helper"), ('b', "helper")]);
    }
}
